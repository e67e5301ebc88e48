//! Callers that wait for an answer of the ledger's machine, which knows them by numbers.

use tokio::sync::oneshot;
use uuid::Uuid;

use super::machine::Answer;
use super::message::{Error, Written};
use crate::machine::Caller;

/// A waiting caller, by the type of its answer.
pub(super) enum Waiting {
    Accepted(oneshot::Sender<Result<Uuid, Error>>),
    Written(oneshot::Sender<Result<Written, Error>>),
    Done(oneshot::Sender<Result<(), Error>>),
}

/// Numbers are reused, so that a caller costs no more memory than its answer channel.
#[derive(Default)]
pub(super) struct Callers {
    waiting: Vec<Option<Waiting>>,
    free: Vec<usize>,
}

impl Callers {
    pub(super) fn add(&mut self, waiting: Waiting) -> Caller {
        let place = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() - 1
        });
        self.waiting[place] = Some(waiting);
        Caller(place as u64)
    }

    /// The number of waiting callers.
    pub(super) const fn len(&self) -> usize {
        self.waiting.len() - self.free.len()
    }

    /// Answers a caller, once.
    pub(super) fn answer(&mut self, caller: Caller, answer: Result<Answer, Error>) {
        let place = usize::try_from(caller.0).ok().filter(|place| *place < self.waiting.len());
        let Some((place, waiting)) = place.and_then(|place| Some((place, self.waiting[place].take()?)))
        else {
            return;
        };
        self.free.push(place);
        match (waiting, answer) {
            (Waiting::Accepted(waiting), Ok(Answer::Accepted(send_id))) => tell(waiting, Ok(send_id)),
            (Waiting::Written(waiting), Ok(Answer::Written(written))) => tell(waiting, Ok(written)),
            (Waiting::Done(waiting), Ok(Answer::Done)) => tell(waiting, Ok(())),
            (Waiting::Accepted(waiting), Err(error)) => tell(waiting, Err(error)),
            (Waiting::Written(waiting), Err(error)) => tell(waiting, Err(error)),
            (Waiting::Done(waiting), Err(error)) => tell(waiting, Err(error)),
            // An answer of another type: the sender is dropped, so that the caller gets [`Error::Closed`].
            (_, Ok(Answer::Accepted(_) | Answer::Written(_) | Answer::Done)) => {}
        }
    }
}

/// Answers a caller that may have gone meanwhile: its request is carried out all the same.
fn tell<T>(waiting: oneshot::Sender<Result<T, Error>>, answer: Result<T, Error>) {
    let _ = waiting.send(answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_gets_its_own_answer_and_its_place_is_reused() {
        let mut callers = Callers::default();
        let (hear, mut first) = oneshot::channel();
        let one = callers.add(Waiting::Done(hear));
        let (hear, mut second) = oneshot::channel();
        let two = callers.add(Waiting::Accepted(hear));
        callers.answer(two, Ok(Answer::Accepted(Uuid::from_u128(2))));
        assert_eq!(second.try_recv(), Ok(Ok(Uuid::from_u128(2))));
        assert!(first.try_recv().is_err());
        let (hear, mut third) = oneshot::channel();
        assert_eq!(callers.add(Waiting::Done(hear)), two);
        assert_eq!(callers.len(), 2);
        callers.answer(one, Err(Error::Refused));
        callers.answer(one, Ok(Answer::Done));
        callers.answer(Caller(7), Ok(Answer::Done));
        assert_eq!(first.try_recv(), Ok(Err(Error::Refused)));
        callers.answer(two, Ok(Answer::Done));
        assert_eq!(third.try_recv(), Ok(Ok(())));
        assert_eq!((callers.waiting.len(), callers.len()), (2, 0));
    }
}
