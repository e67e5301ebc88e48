//! Interactive messages, as [`crate::domain::interactive`] checks them. Fields that are not described here are
//! passed on to the provider.

use utoipa::ToSchema;

use super::words::tags;

/// Reply buttons, a list, or products.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Interactive {
    Button(InteractiveButtons),
    List(InteractiveList),
    ProductList(InteractiveProductList),
    Product(InteractiveProduct),
}

tags! {
    ButtonTag = ["button"];
    ListTag = ["list"];
    ProductListTag = ["product_list"];
    ProductTag = ["product"];
    ReplyTag = ["reply"];
    TextTag = ["text"];
    HeaderTag = ["text", "image", "video", "document"];
}

/// Up to three buttons.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveButtons {
    #[schema(value_type = ButtonTag, inline)]
    r#type: String,
    header: Option<InteractiveHeader>,
    body: InteractiveBody,
    footer: Option<InteractiveFooter>,
    action: ButtonAction,
}

/// A menu.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveList {
    #[schema(value_type = ListTag, inline)]
    r#type: String,
    header: Option<TextHeader>,
    body: InteractiveListBody,
    footer: Option<InteractiveFooter>,
    action: ListAction,
}

/// Products of a catalogue.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveProductList {
    #[schema(value_type = ProductListTag, inline)]
    r#type: String,
    header: TextHeader,
    body: InteractiveBody,
    footer: Option<InteractiveFooter>,
    action: ProductListAction,
}

/// One product of a catalogue, without a header.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveProduct {
    #[schema(value_type = ProductTag, inline)]
    r#type: String,
    body: Option<InteractiveBody>,
    footer: Option<InteractiveFooter>,
    action: ProductAction,
}

/// A text, or a file in the field with the name of its type.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveHeader {
    #[schema(value_type = HeaderTag, inline)]
    r#type: String,
    #[schema(max_length = 60)]
    text: Option<String>,
    image: Option<HeaderFile>,
    video: Option<HeaderFile>,
    document: Option<HeaderFile>,
}

/// Either a `link` or an `id`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct HeaderFile {
    /// Public address of the file.
    #[schema(max_length = 2048)]
    link: Option<String>,
    /// The id of a file that was uploaded to the provider.
    #[schema(max_length = 256)]
    id: Option<String>,
    /// The name that the recipient of a document sees.
    filename: Option<String>,
}

/// A header that is text.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct TextHeader {
    #[schema(value_type = TextTag, inline)]
    r#type: String,
    #[schema(max_length = 60)]
    text: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveBody {
    #[schema(max_length = 1024, example = "Will you come?")]
    text: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveListBody {
    #[schema(max_length = 4096, example = "Choose a flavour")]
    text: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct InteractiveFooter {
    #[schema(max_length = 60)]
    text: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ButtonAction {
    /// The buttons, whose titles must differ.
    #[schema(min_items = 1, max_items = 3)]
    buttons: Vec<ReplyButton>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ReplyButton {
    #[schema(value_type = ReplyTag, inline)]
    r#type: String,
    reply: Reply,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct Reply {
    /// The id that the provider reports when the button is pressed.
    #[schema(max_length = 256)]
    id: String,
    #[schema(max_length = 20, example = "Yes")]
    title: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ListAction {
    /// The text of the button that opens the menu.
    #[schema(max_length = 20, example = "Menu")]
    button: String,
    /// The sections, with at most ten rows in all.
    #[schema(min_items = 1, max_items = 10)]
    sections: Vec<ListSection>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ListSection {
    /// Needed when there are several sections.
    #[schema(max_length = 24)]
    title: Option<String>,
    #[schema(min_items = 1, max_items = 10)]
    rows: Vec<ListRow>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ListRow {
    /// The id that the provider reports when the row is chosen.
    #[schema(max_length = 200)]
    id: String,
    #[schema(max_length = 24)]
    title: String,
    #[schema(max_length = 72)]
    description: Option<String>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ProductListAction {
    #[schema(max_length = 256)]
    catalog_id: String,
    /// The sections, with at most thirty products in all.
    #[schema(min_items = 1, max_items = 10)]
    sections: Vec<ProductSection>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ProductSection {
    /// Needed when there are several sections.
    #[schema(max_length = 24)]
    title: Option<String>,
    #[schema(min_items = 1, max_items = 30)]
    product_items: Vec<ProductItem>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ProductItem {
    #[schema(max_length = 256)]
    product_retailer_id: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct ProductAction {
    #[schema(max_length = 256)]
    catalog_id: String,
    #[schema(max_length = 256)]
    product_retailer_id: String,
}
