//! Addresses of actors that count the messages waiting in the mailbox, because the actor library does not report that.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix::dev::{MessageResponse, OneshotSender, Request, SendError};
use actix::{Actor, Addr, Context, Handler, Message, Recipient};

/// An actor's address. Clones lead to the same actor and count together.
#[derive(Debug)]
pub(crate) struct Door<A: Actor> {
    address: Addr<A>,
    waiting: Arc<AtomicU64>,
}

/// An actor's address for one kind of message.
#[derive(Debug)]
pub(crate) struct Slot<M: Message<Result: Send> + Send + 'static> {
    recipient: Recipient<Queued<M>>,
    waiting: Arc<AtomicU64>,
}

/// A message on its way, which counts until the actor handles it or it is dropped. An actor with a [`Door`] handles
/// these, and the messages in them.
pub(crate) struct Queued<M> {
    message: M,
    _counted: CountedMessage,
}

/// The response to the message in a [`Queued`].
pub(crate) struct Passed<M, R>(R, PhantomData<M>);

/// One waiting message.
struct CountedMessage(Arc<AtomicU64>);

impl<M> Queued<M> {
    fn new(message: M, waiting: &Arc<AtomicU64>) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self { message, _counted: CountedMessage(Arc::clone(waiting)) }
    }

    /// Takes the message, which no longer waits.
    pub(crate) fn taken_up(self) -> M {
        self.message
    }
}

impl<M: Message> Message for Queued<M> {
    type Result = M::Result;
}

impl<M, R> Passed<M, R> {
    pub(crate) const fn new(response: R) -> Self {
        Self(response, PhantomData)
    }
}

impl<A, M, R> MessageResponse<A, Queued<M>> for Passed<M, R>
where
    A: Actor,
    M: Message,
    R: MessageResponse<A, M>,
{
    fn handle(self, ctx: &mut A::Context, tx: Option<OneshotSender<M::Result>>) {
        self.0.handle(ctx, tx);
    }
}

impl Drop for CountedMessage {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<A: Actor<Context = Context<A>>> Door<A> {
    /// A door to an actor without messages yet.
    pub(crate) fn to(address: Addr<A>) -> Self {
        Self { address, waiting: Arc::default() }
    }

    /// The number of messages that wait now.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether the actor runs.
    pub(crate) fn is_open(&self) -> bool {
        self.address.connected()
    }

    /// Sends a message, once there is room, and waits for the answer.
    pub(crate) fn send<M>(&self, message: M) -> Request<A, Queued<M>>
    where
        M: Message<Result: Send> + Send + 'static,
        A: Handler<Queued<M>>,
    {
        self.address.send(Queued::new(message, &self.waiting))
    }

    /// Sends a message now or not at all. Returns whether that was possible.
    pub(crate) fn try_send<M>(&self, message: M) -> bool
    where
        M: Message<Result: Send> + Send + 'static,
        A: Handler<Queued<M>>,
    {
        self.address.try_send(Queued::new(message, &self.waiting)).is_ok()
    }

    /// The address for one kind of message.
    pub(crate) fn slot<M>(&self) -> Slot<M>
    where
        M: Message<Result: Send> + Send + 'static,
        A: Handler<Queued<M>>,
    {
        Slot { recipient: self.address.clone().recipient(), waiting: Arc::clone(&self.waiting) }
    }
}

impl<A: Actor> Clone for Door<A> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), waiting: Arc::clone(&self.waiting) }
    }
}

impl<M: Message<Result: Send> + Send + 'static> Slot<M> {
    /// Sends a message now; returns it when the mailbox is full. For an actor that ended, the message is dropped.
    pub(crate) fn try_send(&self, message: M) -> Result<(), M> {
        match self.recipient.try_send(Queued::new(message, &self.waiting)) {
            Ok(()) | Err(SendError::Closed(_)) => Ok(()),
            Err(SendError::Full(queued)) => Err(queued.taken_up()),
        }
    }

    /// Sends a message, once there is room. For an actor that ended, the message is dropped.
    pub(crate) fn send(&self, message: M) -> impl Future<Output = ()> + use<M> {
        let sent = self.recipient.send(Queued::new(message, &self.waiting));
        async { drop(sent.await) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    #[derive(Message)]
    #[rtype(result = "u64")]
    struct Say(u64);

    impl Actor for Echo {
        type Context = Context<Self>;
    }

    impl Handler<Say> for Echo {
        type Result = actix::ResponseFuture<u64>;

        fn handle(&mut self, Say(word): Say, _: &mut Self::Context) -> Self::Result {
            Box::pin(async move { word })
        }
    }

    impl<M> Handler<Queued<M>> for Echo
    where
        M: Message,
        Self: Handler<M>,
    {
        type Result = Passed<M, <Self as Handler<M>>::Result>;

        fn handle(&mut self, queued: Queued<M>, ctx: &mut Self::Context) -> Self::Result {
            Passed::new(Handler::<M>::handle(self, queued.taken_up(), ctx))
        }
    }

    #[actix::test]
    async fn messages_count_until_the_actor_takes_them_up_and_are_answered_as_they_are() {
        let door = Door::to(Echo.start());
        // The actor shares this thread: it has had no turn yet.
        let (first, second) = (door.send(Say(1)), door.send(Say(2)));
        assert_eq!(door.waiting(), 2);
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (1, 2));
        assert_eq!(door.waiting(), 0);
        assert!(door.try_send(Say(3)) && door.slot::<Say>().try_send(Say(4)).is_ok());
        assert_eq!(door.clone().waiting(), 2);
        assert_eq!(door.send(Say(5)).await.unwrap(), 5);
        assert_eq!(door.waiting(), 0);
    }
}
