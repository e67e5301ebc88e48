//! The reference's examples of messages through a web session.

use image::ImageFormat;
use serde_json::json;

use super::world::World;
use super::{GROUP, MARIA, samples};
use crate::api::examples;
use crate::media::host::Host;

#[tokio::test]
async fn every_example_of_a_web_send_is_accepted_and_arrives() {
    let world = Box::pin(World::linked()).await;
    let maria = world.whatsapp.contact(MARIA);
    world.whatsapp.group(GROUP, &[&maria]);
    for (name, mut body) in examples::of("/api/v1/web-chat/{id}/messages") {
        let file = match body["type"].as_str().unwrap() {
            "image" => samples::picture(ImageFormat::Jpeg),
            "video" => samples::film(),
            "audio" => samples::voice(1_000),
            "document" => b"%PDF-1.7\n".to_vec(),
            "sticker" => samples::square(512, ImageFormat::WebP),
            _ => Vec::new(),
        };
        let host = Host::body("", &file).await;
        if body.get("link").is_some() {
            body["link"] = json!(host.link("/file"));
        }
        if body["recipient_type"] == "group" {
            body["phone_number"] = json!(GROUP);
        }
        let (sent, _) = Box::pin(world.arrives(&body)).await;
        assert_eq!(sent.body["ignored"], json!(null), "{name}");
    }
}

#[tokio::test]
async fn the_examples_of_questions_to_whatsapp_are_answered() {
    let world = Box::pin(World::linked()).await;
    world.whatsapp.contact(MARIA);
    let (key, channel) = (&world.own.company.key, world.own.channel);
    for (path, name) in
        [("/api/v1/numbers/check", "on_whatsapp"), ("/api/v1/web-chat/{id}/profile-picture", "number")]
    {
        let mut body = examples::of(path)[name].clone();
        if body.get("channel_id").is_some() {
            body["channel_id"] = json!(channel);
        }
        let answer =
            world.service.post(&path.replace("{id}", &channel.to_string()), key, body.to_string()).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
}
