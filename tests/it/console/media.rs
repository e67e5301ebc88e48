//! The library of media in the console, without script.

use image::ImageFormat;
use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use reqwest::Method;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::api::media::picture;
use crate::harness::Answer;

const PLACE: &str = "/console/media";
const BOUNDARY: &str = "----pombo7MA4YWxkTrZu0gW";

/// Sends the form with a file, as a browser does.
async fn upload(browser: &Browser<'_>, sent_as: &str, name: &str, file: &[u8]) -> Answer {
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"as\"\r\n\r\n{sent_as}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: image/png\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(file);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let request = browser
        .request(Method::POST, PLACE)
        .header("origin", browser.origin())
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    browser.ask(request.body(body)).await
}

/// The id of the only file that a page shows.
fn id_in(page: &str) -> &str {
    page.split("media:").nth(1).unwrap().get(..36).unwrap()
}

#[tokio::test]
async fn a_file_is_uploaded_shown_sent_and_deleted() {
    let world = World::new().await;
    let (member, outsider) = (world.signed_in(Role::Member).await, world.outsider().await);
    assert!(member.page(PLACE).await.contains("There are no files yet."));
    let refused = upload(&member, "", "page.png", b"RIFF\0\0\0\0WEBPVP8 ").await;
    assert!(
        refused.status == 422 && refused.body.contains("WhatsApp does not take this file"),
        "{refused:?}"
    );
    let kept = upload(&member, "", "<b>logo.png", &picture(40, ImageFormat::Png)).await;
    assert_eq!((kept.status, kept.header("location")), (303, PLACE), "{}", kept.body);
    let page = member.page(PLACE).await;
    assert!(page.contains("blogo.png is in the library") && !page.contains("<b>logo"), "{page}");
    let id = id_in(&page).to_owned();
    let thumbnail = format!("{PLACE}/{id}/thumbnail");
    assert!(page.contains(&format!("src=\"{thumbnail}\"")) && page.contains("Image, "), "{page}");
    let shown = member.request(Method::GET, &thumbnail).send().await.unwrap();
    assert_eq!(
        (shown.status().as_u16(), &shown.headers()["content-type"]),
        (200, &"image/jpeg".parse().unwrap())
    );
    assert!(!outsider.page(PLACE).await.contains(&id));
    assert_eq!(outsider.get(&thumbnail).await.status, 404);
    assert_eq!(outsider.post(&format!("{PLACE}/{id}/delete"), &[]).await.status, 404);

    world.service.channel(&world.acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let send = format!("/console/sends/new?type=image&link=media:{id}");
    assert!(page.contains(&send.replace('&', "&amp;")), "{page}");
    let compose = member.page(&send).await;
    assert!(compose.contains(&format!("<option value=\"media:{id}\" selected>blogo.png (")), "{compose}");
    assert_eq!(value_of(&compose, "link").as_deref(), Some(""));
    let fields = [
        ("type", "image"),
        ("link", ""),
        ("link_file", &format!("media:{id}")),
        ("numbers", "5511988887777"),
    ];
    let checked = member.check("/console/sends/new", &[&fields[..], &[("action", "check")]].concat()).await;
    assert!(checked.status == 200 && value_of(&checked.body, "checked").is_some(), "{}", checked.body);

    let after = member.submit(&format!("{PLACE}/{id}/delete"), &[]).await;
    assert!(after.contains("blogo.png is deleted") && after.contains("There are no files yet."), "{after}");
    let gone = member.check("/console/sends/new", &[&fields[..], &[("action", "check")]].concat()).await;
    assert!(
        gone.status == 422 && gone.body.contains("There is no such file at this address"),
        "{}",
        gone.body
    );
    assert_eq!(value_of(&gone.body, "link"), Some(format!("media:{id}")), "it is shown: {}", gone.body);
}

#[tokio::test]
async fn people_who_only_look_upload_and_delete_nothing() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    upload(&member, "document", "a.png", &picture(40, ImageFormat::Png)).await;
    let viewer = world.signed_in(Role::Viewer).await;
    let page = viewer.page(PLACE).await;
    assert!(
        page.contains("Document, ") && !page.contains("type=\"file\"") && !page.contains("/delete"),
        "{page}"
    );
    assert_eq!(upload(&viewer, "", "a.png", b"x").await.status, 403);
}
