use std::future::ready;

use super::*;

#[tokio::test]
async fn an_answer_that_comes_in_time_is_taken() {
    let server = Server::new(Duration::ZERO);
    assert_eq!(server.answer(ready(1), Some(Duration::ZERO)).await, Some(1));
    assert_eq!(server.answer(ready(1), None).await, Some(1));
    assert!(!server.is_doubted());
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_a_connection_in_doubt() {
    let late = Server::new(GRACE);
    assert_eq!(late.answer(pending::<()>(), Some(Duration::ZERO)).await, None);
    assert!(late.is_doubted());

    let dropped = Server::new(GRACE);
    tokio::select! {
        biased;
        _ = dropped.answer(pending::<()>(), None) => panic!("nobody answers"),
        () = ready(()) => {}
    }
    assert!(dropped.is_doubted());
}

#[tokio::test]
async fn calls_to_a_replaced_server_are_given_up() {
    let server = Server::new(Duration::ZERO);
    server.meet("on Monday".to_owned());
    let meet = |start: &'static str| {
        let server = Arc::clone(&server);
        async move { server.meet(start.to_owned()) }
    };
    // Another connection to the same server changes nothing.
    let slow = async {
        tokio::task::yield_now().await;
        1
    };
    let (answer, ()) = tokio::join!(server.answer(slow, None), meet("on Monday"));
    assert_eq!(answer, Some(1));
    let (answer, ()) = tokio::join!(server.answer(pending::<()>(), None), meet("on Tuesday"));
    assert_eq!(answer, None);
}
