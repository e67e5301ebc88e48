//! How the pages of a company look: what its owners choose, and who sees it.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};
use pombo::accounts::Role;
use reqwest::Method;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::harness::Answer;

const PLACE: &str = "/console/company/look";
const BOUNDARY: &str = "a-boundary-of-a-browser";

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(width, height, Rgb([20, 90, 160])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Sends the form with these fields, and a file if there is one.
async fn save(browser: &Browser<'_>, fields: &[(&str, &str)], file: Option<&[u8]>) -> Answer {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    if let Some(file) = file {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"logo.png\"\r\n\
             Content-Type: image/png\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(file);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    let request = browser
        .request(Method::POST, PLACE)
        .header("origin", browser.origin())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    browser.ask(request.body(body)).await
}

/// The address of the logo in a page.
fn logo(page: &str) -> Option<&str> {
    page.split("<img class=\"logo\" src=\"").nth(1)?.split('"').next()
}

#[tokio::test]
async fn a_company_s_name_logo_and_colour_stand_in_its_pages_and_on_its_invitations() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    assert_eq!(world.signed_in(Role::Member).await.get(PLACE).await.status, 403);
    let fields = [("name", "Padaria <i>"), ("colour", ""), ("own", "#FFEE00")];
    let saved = save(&owner, &fields, Some(&picture(600, 300, ImageFormat::Jpeg))).await;
    assert_eq!((saved.status, saved.header("location")), (303, PLACE), "{}", saved.body);
    let page = owner.page(PLACE).await;
    assert!(page.contains("The look is saved.") && page.contains("Padaria &lt;i&gt;"), "{page}");
    assert_eq!(value_of(&page, "own").as_deref(), Some("#ffee00"));
    assert!(page.contains("darker, so that text of this colour can be read"), "{page}");
    assert!(page.contains("On dark pages: as you chose it."), "{page}");
    assert!(page.contains("href=\"/console/look/ffee00.css\""), "{page}");
    // The files are for everybody, and kept.
    let (nobody, address) = (Browser::new(&world.service), logo(&page).unwrap().to_owned());
    let css = nobody.get("/console/look/ffee00.css").await;
    assert_eq!((css.status, css.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(
        css.body.starts_with(":root{--accent:light-dark(#") && css.body.contains("#ffee00"),
        "{}",
        css.body
    );
    let file = nobody.get(&address).await;
    assert_eq!((file.status, file.header("content-type")), (200, "image/png"));
    assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    for missing in
        ["ffee0.css", "FFEE00.css", "ffee00.png", &"0".repeat(64), &format!("{}.png", "0".repeat(64))]
    {
        assert_eq!(nobody.get(&format!("/console/look/{missing}")).await.status, 404, "{missing}");
    }
    // The person who is invited sees it before they sign in; another company does not.
    let invited = [("email", "ben@acme.example"), ("role", "viewer")];
    let links = owner.submit("/console/company/invitations", &invited).await;
    let place = links.find("/console/link/").unwrap();
    let link = links[place..].split(['"', '<']).next().unwrap();
    let invitation = nobody.page(link).await;
    assert!(
        logo(&invitation) == Some(address.as_str()) && invitation.contains("Padaria &lt;i&gt;"),
        "{invitation}"
    );
    assert_eq!(logo(&world.outsider().await.page("/console").await), None);
    assert_eq!(logo(&nobody.page("/console/sign-in").await), None);
    // The logo stays when the rest changes, and goes when it is removed. A colour is chosen from the list while the other one
    // still stands in its field.
    let listed = [("name", ""), ("colour", "#1d5fd1"), ("own", "#ffee00")];
    assert_eq!(save(&owner, &listed, None).await.status, 303);
    let page = owner.page(PLACE).await;
    assert_eq!(logo(&page), Some(address.as_str()));
    assert!(page.contains("On light pages: as you chose it."), "{page}");
    assert_eq!(save(&owner, &[("colour", "#1d5fd1"), ("remove", "yes")], None).await.status, 303);
    assert_eq!(logo(&owner.page(PLACE).await), None);
    let reset = owner.submit(&format!("{PLACE}/reset"), &[]).await;
    assert!(reset.contains("look like this service again") && !reset.contains("/console/look/"), "{reset}");
    let operator = world.operator().await;
    let changes = operator.page("/console/operator/changes?what=company").await;
    assert!(changes.contains("#1d5fd1") && changes.contains("Name in the head"), "{changes}");
}

#[tokio::test]
async fn what_is_no_colour_or_no_picture_is_refused_beside_its_field() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec();
    let (wide, large) = (picture(3_000, 2, ImageFormat::Png), vec![0; 1024 * 1024 + 1]);
    for (fields, file, field, sentence) in [
        (vec![("own", "red")], None, "own", "A colour is #"),
        (vec![("colour", "#12345")], None, "colour", "A colour is #"),
        (vec![], Some(svg), "logo", "This is no PNG, JPEG or WebP picture"),
        (vec![], Some(wide), "logo", "more than 2,048 pixels"),
        (vec![], Some(large), "logo", "more than 1 MB"),
    ] {
        let refused = save(&owner, &fields, file.as_deref()).await;
        assert_eq!(refused.status, 422, "{sentence}: {}", refused.body);
        let has_fault = refused.body.contains(&format!("id=\"field-{field}-fault\""));
        assert!(has_fault && refused.body.contains(sentence), "{sentence}: {}", refused.body);
    }
    let page = owner.page(PLACE).await;
    assert!(!page.contains("/console/look/"), "nothing was saved: {page}");
}
