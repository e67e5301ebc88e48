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
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpRequest};
use tokio::time::{Sleep, sleep};

use crate::surface::body;

/// How long the rest is received: long enough for the largest file over a line of 100 Mbit/s.
const PATIENCE: Duration = Duration::from_secs(30);

/// The rest of the body, and the action when it does not arrive in time.
struct Rest {
    body: body::Rest,
    broken: Box<dyn FnOnce()>,
}

/// Leaves the rest of a request's body to the [gate](super::gate). `broken` is called when the connection is
/// closed before the rest has arrived, because the browser may not show the answer then.
pub(super) fn leave(request: &HttpRequest, body: body::Rest, broken: impl FnOnce() + 'static) {
    request.extensions_mut().insert(Rest { body, broken: Box::new(broken) });
}

/// Returns the answer. If a rest of its request was left, the answer lasts until that has arrived.
pub(super) fn receive(response: ServiceResponse) -> ServiceResponse {
    let left = response.request().extensions_mut().remove::<Rest>();
    let Some(Rest { body: rest, broken }) = left else { return response };
    response.map_body(|_, body| {
        let end = Box::pin(sleep(PATIENCE));
        Lasting { body, rest, end, broken: Some(broken) }.boxed()
    })
}

/// The body of an answer that lasts until its request has arrived.
struct Lasting {
    body: BoxBody,
    rest: body::Rest,
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
        if self.rest.poll_end(context).is_ready() {
            return Poll::Ready(None);
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

    use actix_web::body;
    use futures_util::stream;

    use super::*;
    use crate::surface::body::Rest;

    async fn answer(rest: Rest, patience: Duration) -> (Bytes, bool) {
        let is_broken = Rc::new(Cell::new(false));
        let told = Rc::clone(&is_broken);
        let lasting = Lasting {
            body: BoxBody::new("page"),
            rest,
            end: Box::pin(sleep(patience)),
            broken: Some(Box::new(move || told.set(true))),
        };
        let bytes = body::to_bytes(lasting).await.unwrap();
        (bytes, is_broken.get())
    }

    #[actix_web::test]
    async fn an_answer_lasts_until_the_rest_has_arrived_or_the_time_is_up() {
        let pieces = stream::iter([Ok(Bytes::from_static(b"x")), Ok(Bytes::from_static(b"y"))]);
        assert_eq!(answer(Rest::from(pieces), PATIENCE).await, (Bytes::from_static(b"page"), false));
        assert_eq!(
            answer(Rest::from(stream::pending()), Duration::ZERO).await,
            (Bytes::from_static(b"page"), true)
        );
    }
}
