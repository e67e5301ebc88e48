//! The page of nodes of a service without a cluster. The tests of nodes test it with several nodes.

use pombo::accounts::Role;
use uuid::Uuid;

use super::browser::Browser;
use super::world::World;

#[tokio::test]
async fn a_service_that_runs_alone_says_so_in_each_language() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    assert_eq!(viewer.get("/console/operator/nodes").await.status, 403, "operators alone see it");
    let session = world.operator().await.cookie("pombo_session").unwrap();
    for (language, said) in [
        ("en", "This service runs alone."),
        ("pt-BR", "Este serviço roda sozinho."),
        ("es", "Este servicio funciona solo."),
    ] {
        let operator = Browser::with_session(&world.service, &session).reading(language);
        let page = operator.page("/console/operator/nodes").await;
        assert!(page.contains(said) && page.contains("<code>cluster.name</code>"), "{page}");
        assert!(
            !page.contains("data-live") && !page.contains("/drain"),
            "there is nothing to follow: {page}"
        );
    }
}

#[tokio::test]
async fn a_node_that_is_none_is_neither_shown_nor_drained() {
    let world = World::new().await;
    let operator = world.operator().await;
    let place = format!("/console/operator/nodes/{}", Uuid::now_v7());
    assert_eq!(operator.get(&place).await.status, 404);
    assert_eq!(operator.post(&format!("{place}/drain"), &[]).await.status, 404);
    assert_eq!(operator.post(&format!("{place}/undrain"), &[]).await.status, 404);
    let changes = operator.page("/console/operator/changes?what=node").await;
    assert!(changes.contains("No matching change is recorded."), "{changes}");
}
