//! The parts of interactive messages, with the provider's limits: in characters for a text. Ids of catalogues and products
//! have no documented limit; 256 is far above any that exist.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Refusal;
use crate::payload::{Node, Part, parts, tags};

tags! {
    /// The type of a message with buttons.
    pub enum ButtonTag { Button = "button" } else "must be button";
    /// The type of a message with a menu.
    pub enum ListTag { List = "list" } else "must be list";
    /// The type of a message with several products.
    pub enum ProductListTag { ProductList = "product_list" } else "must be product_list";
    /// The type of a message with a product.
    pub enum ProductTag { Product = "product" } else "must be product";
    /// The type of a message with a button that opens an address.
    pub enum LinkTag { Link = "cta_url" } else "must be cta_url";
    /// The name of the action of a message with a button that opens an address.
    pub enum LinkName { Link = "cta_url" } else "must have the name `cta_url`";
    /// The type of a message that asks where the person is.
    pub enum PlaceTag { Place = "location_request_message" } else "must be location_request_message";
    /// The name of the action of a message that asks where the person is.
    pub enum PlaceName { SendLocation = "send_location" } else "must have the name `send_location`";
    /// The type of a button.
    pub enum ReplyTag { Reply = "reply" } else "must have the type `reply`";
    /// The type of a header that is text.
    pub enum TextTag { Text = "text" } else "must have the type `text` in this kind of message";
    /// The type of a header above buttons.
    pub enum HeaderTag { Text = "text", Image = "image", Video = "video", Document = "document" }
        else "must have one of the types text, image, video, document";
}

/// Reply buttons, a list, products, a button that opens an address, or the question where a person is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Interactive {
    /// Reply buttons.
    Button(InteractiveButtons),
    /// A menu.
    List(InteractiveList),
    /// Products of a catalogue.
    ProductList(InteractiveProductList),
    /// One product.
    Product(InteractiveProduct),
    /// A button that opens an address.
    Link(InteractiveLink),
    /// The question where the person is.
    Place(InteractivePlaceRequest),
}

/// The types, as a refusal lists them.
const TYPES: &str = "button, list, product_list, product, cta_url, location_request_message";

impl Part for Interactive {
    fn read(root: &Node<'_>) -> Result<Self, Refusal> {
        let kind =
            root.at("type").ok_or_else(|| root.missing("type", format_args!("give one of {TYPES}")))?;
        match kind.value().as_str() {
            Some("button") => Part::read(root).map(Self::Button),
            Some("list") => Part::read(root).map(Self::List),
            Some("product_list") => Part::read(root).map(Self::ProductList),
            Some("product") => match root.at("header") {
                Some(header) => {
                    Err(header.refuse("must be left out: a product message shows the product instead"))
                }
                None => Part::read(root).map(Self::Product),
            },
            Some("cta_url") => Part::read(root).map(Self::Link),
            Some("location_request_message") => Part::read(root).map(Self::Place),
            _ => Err(kind.refuse(format_args!("must be one of {TYPES}"))),
        }
    }
}

parts! {
    /// Up to three buttons.
    pub struct InteractiveButtons {
        r#type: tag(ButtonTag),
        /// Above the text.
        header: one(InteractiveHeader)?,
        /// The text of the message.
        body: one(InteractiveBody),
        /// Below the text, in small letters.
        footer: one(InteractiveFooter)?,
        /// The buttons.
        action: one(ButtonAction),
    }

    /// A menu.
    pub struct InteractiveList {
        r#type: tag(ListTag),
        /// Above the text.
        header: one(TextHeader)?,
        /// The text of the message.
        body: one(InteractiveListBody),
        /// Below the text, in small letters.
        footer: one(InteractiveFooter)?,
        /// The menu.
        action: one(ListAction),
    }

    /// Products of a catalogue.
    pub struct InteractiveProductList {
        r#type: tag(ProductListTag),
        /// Above the text.
        header: one(TextHeader),
        /// The text of the message.
        body: one(InteractiveBody),
        /// Below the text, in small letters.
        footer: one(InteractiveFooter)?,
        /// The products.
        action: one(ProductListAction),
    }

    /// One product of a catalogue, without a header.
    pub struct InteractiveProduct {
        r#type: tag(ProductTag),
        /// The text of the message.
        body: one(InteractiveBody)?,
        /// Below the text, in small letters.
        footer: one(InteractiveFooter)?,
        /// The product.
        action: one(ProductAction),
    }

    /// A button that opens an address.
    pub struct InteractiveLink {
        r#type: tag(LinkTag),
        /// Above the text.
        header: one(InteractiveHeader)?,
        /// The text of the message.
        body: one(InteractiveBody),
        /// Below the text, in small letters.
        footer: one(InteractiveFooter)?,
        /// The button.
        action: one(LinkAction),
    }

    /// The question where the person is, with a button that sends it.
    pub struct InteractivePlaceRequest {
        r#type: tag(PlaceTag),
        /// The text of the message.
        body: one(InteractiveBody),
        /// The button.
        action: one(PlaceAction),
    }

    /// A text, or a file in the field with the name of its type.
    pub struct InteractiveHeader by hand {
        r#type: tag(HeaderTag),
        /// The text, for `text`.
        text: text(60)?,
        /// The file, for `image`.
        image: one(HeaderFile)?,
        /// The file, for `video`.
        video: one(HeaderFile)?,
        /// The file, for `document`.
        document: one(HeaderFile)?,
    }

    /// Either a `link` or an `id`.
    pub struct HeaderFile by hand {
        /// Public address of the file, or the `link` of a file of the library.
        link: text(2048)?,
        /// The id of a file that was uploaded to the provider.
        id: text(256)?,
        /// The name that the recipient of a document sees.
        filename: file_name()?,
    }

    /// A header that is text.
    pub struct TextHeader {
        r#type: tag(TextTag),
        /// The text.
        text: text(60),
    }

    /// The text of the message.
    pub struct InteractiveBody {
        /// The text.
        #[schema(example = "Will you come?")]
        text: text(1024),
    }

    /// The text of a message with a menu, which may be longer.
    pub struct InteractiveListBody {
        /// The text.
        #[schema(example = "Choose a flavour")]
        text: text(4096),
    }

    /// Small letters below the text.
    pub struct InteractiveFooter {
        /// The text.
        text: text(60),
    }

    /// The buttons below the text.
    pub struct ButtonAction by hand {
        /// The buttons, whose titles must differ.
        buttons: many(ReplyButton, 3),
    }

    /// A button.
    pub struct ReplyButton {
        r#type: tag(ReplyTag),
        /// What it says, and what it reports.
        reply: one(Reply),
    }

    /// The words of a button, and its id.
    pub struct Reply {
        /// The id that the provider reports when the button is pressed.
        id: text(256),
        /// The text of the button.
        #[schema(example = "Yes")]
        title: text(20),
    }

    /// The menu, behind its button.
    pub struct ListAction by hand {
        /// The text of the button that opens the menu.
        #[schema(example = "Menu")]
        button: text(20),
        /// The sections, with at most ten rows in all.
        sections: many(ListSection, 10),
    }

    /// A part of a menu.
    pub struct ListSection {
        /// Needed when there are several sections.
        title: text(24)?,
        /// The rows of the section.
        rows: many(ListRow, 10),
    }

    /// A row of a menu.
    pub struct ListRow {
        /// The id that the provider reports when the row is chosen.
        id: text(200),
        /// What can be chosen.
        title: text(24),
        /// Below the title.
        description: text(72)?,
    }

    /// The products that are shown.
    pub struct ProductListAction by hand {
        /// The provider's id of the catalogue.
        catalog_id: text(256),
        /// The sections, with at most thirty products in all.
        sections: many(ProductSection, 10),
    }

    /// A part of the products.
    pub struct ProductSection {
        /// Needed when there are several sections.
        title: text(24)?,
        /// The products of the section.
        product_items: many(ProductItem, 30),
    }

    /// A product of the catalogue.
    pub struct ProductItem {
        /// The product's id in the catalogue.
        product_retailer_id: text(256),
    }

    /// The product that is shown.
    pub struct ProductAction {
        /// The provider's id of the catalogue.
        catalog_id: text(256),
        /// The product's id in the catalogue.
        product_retailer_id: text(256),
    }

    /// The button that opens an address.
    pub struct LinkAction {
        /// The provider's word for it.
        name: own(LinkName),
        /// What it says and opens.
        parameters: one(LinkParameters),
    }

    /// The words of a button, and its address.
    pub struct LinkParameters by hand {
        /// The text of the button.
        #[schema(example = "Track it")]
        display_text: text(20),
        /// The address, which begins with `https://` or `http://`.
        #[schema(example = "https://example.com/orders/7")]
        url: text(2000),
    }

    /// The button that sends the person's place.
    pub struct PlaceAction {
        /// The provider's word for it.
        name: own(PlaceName),
    }
}
