//! The rest of a request's body, when the answer is ready before the body has arrived.
//!
//! A browser reads the answer only after it has sent the whole body. If the service closes the connection
//! before that, the browser shows a broken connection. So the answer is sent at once, and the rest of the
//! body is received and discarded for a while.

use std::error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpMessage as _, HttpRequest};
use futures_util::Stream as _;
use tokio::time::{Sleep, sleep};

/// How long the rest is received: long enough for the largest file over a line of 100 Mbit/s.
const PATIENCE: Duration = Duration::from_secs(30);

/// The rest of the body, and the action when it does not arrive in time.
struct Rest {
    payload: Payload,
    broken: Box<dyn FnOnce()>,
}

/// Leaves the rest of a request's body to the [gate](super::gate). `broken` is called when the connection is
/// closed before the rest has arrived, because the browser may not show the answer then.
pub(super) fn leave(request: &HttpRequest, payload: Payload, broken: impl FnOnce() + 'static) {
    request.extensions_mut().insert(Rest { payload, broken: Box::new(broken) });
}

/// Returns the answer. If a rest of its request was left, the answer lasts until that has arrived.
pub(super) fn receive(response: ServiceResponse) -> ServiceResponse {
    let left = response.request().extensions_mut().remove::<Rest>();
    let Some(Rest { payload, broken }) = left else { return response };
    response.map_body(|_, body| {
        let end = Box::pin(sleep(PATIENCE));
        Lasting { body, payload, end, broken: Some(broken) }.boxed()
    })
}

/// The body of an answer that lasts until its request has arrived.
struct Lasting {
    body: BoxBody,
    payload: Payload,
    end: Pin<Box<Sleep>>,
    broken: Option<Box<dyn FnOnce()>>,
}

impl MessageBody for Lasting {
    type Error = Box<dyn error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        match Pin::new(&mut self.body).poll_next(context) {
            Poll::Ready(None) => {}
            other => return other,
        }
        loop {
            match Pin::new(&mut self.payload).poll_next(context) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        if self.end.as_mut().poll(context).is_ready() {
            if let Some(broken) = self.broken.take() {
                broken();
            }
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use actix_web::test::TestRequest;
    use actix_web::{FromRequest as _, body, dev};
    use futures_util::stream;

    use super::*;

    async fn answer(rest: dev::Payload, patience: Duration) -> (Bytes, bool) {
        let (mut rest, request) = (rest, TestRequest::default().to_http_request());
        let payload = Payload::from_request(&request, &mut rest).await.unwrap();
        let is_broken = Rc::new(Cell::new(false));
        let told = Rc::clone(&is_broken);
        let lasting = Lasting {
            body: BoxBody::new("page"),
            payload,
            end: Box::pin(sleep(patience)),
            broken: Some(Box::new(move || told.set(true))),
        };
        let bytes = body::to_bytes(lasting).await.unwrap();
        (bytes, is_broken.get())
    }

    #[actix_web::test]
    async fn an_answer_lasts_until_the_rest_has_arrived_or_the_time_is_up() {
        let pieces = stream::iter([Ok(Bytes::from_static(b"x")), Ok(Bytes::from_static(b"y"))]);
        let rest: dev::Payload = dev::Payload::Stream { payload: Box::pin(pieces) };
        assert_eq!(answer(rest, PATIENCE).await, (Bytes::from_static(b"page"), false));
        let endless: dev::Payload = dev::Payload::Stream { payload: Box::pin(stream::pending()) };
        assert_eq!(answer(endless, Duration::ZERO).await, (Bytes::from_static(b"page"), true));
    }
}
