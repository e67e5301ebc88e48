//! The way into an actor, which knows how many messages wait in the mailbox: the actor library does not tell.

use std::marker::PhantomData;
use std::sync::Arc;

use actix::dev::{MessageResponse, OneshotSender, Request, SendError, ToEnvelope};
use actix::{Actor, Addr, Handler, Message, Recipient};

/// How many messages wait. Clones count the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mailbox(Arc<Token>);

/// Each message has a clone, which costs as little as any way to count.
#[derive(Debug, Clone, Default)]
struct Token(Arc<()>);

/// An actor's address. Clones lead to the same.
#[derive(Debug)]
pub(crate) struct Door<A: Actor> {
    address: Addr<A>,
    mailbox: Mailbox,
}

/// The way into an actor for one kind of message.
#[derive(Debug)]
pub(crate) struct Slot<M>
where
    M: Message + Send + 'static,
    M::Result: Send,
{
    recipient: Recipient<Queued<M>>,
    mailbox: Mailbox,
}

/// A message on its way, which counts until the actor takes it up or it is dropped. An actor that has a [`Door`] is a
/// handler of these, and handles what is in them.
pub(crate) struct Queued<M> {
    message: M,
    _counted: Token,
}

/// The response to the message in a [`Queued`].
pub(crate) struct Passed<M, R>(R, PhantomData<M>);

impl Mailbox {
    /// How many messages wait now.
    pub(crate) fn len(&self) -> u64 {
        let Token(counted) = &*self.0;
        // One is its own.
        (Arc::strong_count(counted) - 1) as u64
    }

    fn queue<M>(&self, message: M) -> Queued<M> {
        Queued { message, _counted: Token::clone(&self.0) }
    }
}

impl<M> Queued<M> {
    /// The message, which waits no more.
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

impl<A: Actor> Door<A> {
    /// To an actor that nobody has sent anything yet.
    pub(crate) fn to(address: Addr<A>) -> Self {
        Self { address, mailbox: Mailbox::default() }
    }

    /// How many messages wait.
    pub(crate) const fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Whether the actor runs.
    pub(crate) fn is_open(&self) -> bool {
        self.address.connected()
    }

    /// Hands a message over, once there is room, and waits for the answer.
    pub(crate) fn send<M>(&self, message: M) -> Request<A, Queued<M>>
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<Queued<M>>,
        A::Context: ToEnvelope<A, Queued<M>>,
    {
        self.address.send(self.mailbox.queue(message))
    }

    /// Hands a message over now or not at all. Whether that was possible.
    pub(crate) fn try_send<M>(&self, message: M) -> bool
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<Queued<M>>,
        A::Context: ToEnvelope<A, Queued<M>>,
    {
        self.address.try_send(self.mailbox.queue(message)).is_ok()
    }

    /// The way in for one kind of message.
    pub(crate) fn slot<M>(&self) -> Slot<M>
    where
        M: Message + Send + 'static,
        M::Result: Send,
        A: Handler<Queued<M>>,
        A::Context: ToEnvelope<A, Queued<M>>,
    {
        Slot { recipient: self.address.clone().recipient(), mailbox: self.mailbox.clone() }
    }
}

impl<A: Actor> Clone for Door<A> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), mailbox: self.mailbox.clone() }
    }
}

impl<M> Slot<M>
where
    M: Message + Send + 'static,
    M::Result: Send,
{
    /// Hands a message over now; returns it when the mailbox is full. An actor that ended takes none.
    pub(crate) fn try_send(&self, message: M) -> Result<(), M> {
        match self.recipient.try_send(self.mailbox.queue(message)) {
            Ok(()) | Err(SendError::Closed(_)) => Ok(()),
            Err(SendError::Full(queued)) => Err(queued.taken_up()),
        }
    }

    /// Hands a message over, once there is room. An actor that ended takes none.
    pub(crate) async fn send(self, message: M) {
        let _ = self.recipient.send(self.mailbox.queue(message)).await;
    }
}

impl<M> Clone for Slot<M>
where
    M: Message + Send + 'static,
    M::Result: Send,
{
    fn clone(&self) -> Self {
        Self { recipient: self.recipient.clone(), mailbox: self.mailbox.clone() }
    }
}

#[cfg(test)]
mod tests {
    use actix::Context;

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
        assert_eq!(door.mailbox().len(), 2);
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (1, 2));
        assert_eq!(door.mailbox().len(), 0);
        assert!(door.try_send(Say(3)) && door.slot::<Say>().try_send(Say(4)).is_ok());
        assert_eq!(door.clone().mailbox().len(), 2);
        assert_eq!(door.send(Say(5)).await.unwrap(), 5);
        assert_eq!(door.mailbox().len(), 0);
    }
}
