//! Questions to the store that are asked together: while one read is under way, those that come wait for the next one.
//!
//! A read costs the way to the database and back, whatever it reads. Many requests that ask for little at the same time share it.

use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use store::{Error, Result};

/// The most questions of one read.
const AT_ONCE: usize = 500;

type Askers<A> = Vec<oneshot::Sender<Result<A>>>;

/// Questions that wait for the same read.
pub(crate) struct Gathered<Q, A>(Arc<Mutex<Questions<Q, A>>>);

struct Questions<Q, A> {
    questions: Vec<(Q, oneshot::Sender<Result<A>>)>,
    is_reading: bool,
}

impl<Q, A> Default for Gathered<Q, A> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Questions { questions: Vec::new(), is_reading: false })))
    }
}

impl<Q: 'static, A: 'static> Gathered<Q, A> {
    /// The answer to a question, from a read that begins after this call. `read` answers questions, each in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the read failed.
    pub(crate) async fn ask<F>(&self, question: Q, read: impl Fn(Vec<Q>) -> F + 'static) -> Result<A>
    where
        F: Future<Output = Result<Vec<A>>>,
    {
        let (asker, answered) = oneshot::channel();
        let is_reading = {
            let mut waiting = self.0.lock();
            waiting.questions.push((question, asker));
            mem::replace(&mut waiting.is_reading, true)
        };
        if !is_reading {
            let mut round = Round { waiting: Arc::clone(&self.0), is_over: false };
            // It goes on when the request that began it is gone.
            actix::spawn(async move {
                while let Some((questions, askers)) = round.next() {
                    answer(askers, read(questions).await);
                }
            });
        }
        answered.await.unwrap_or_else(|_| Err(Error::Unavailable("the read was interrupted".to_owned())))
    }
}

/// Gives the askers their answers, or the reason why there are none.
fn answer<A>(askers: Askers<A>, read: Result<Vec<A>>) {
    // Nobody may wait for an answer any more.
    match read {
        Ok(answers) => askers.into_iter().zip(answers).for_each(|(asker, answer)| {
            let _ = asker.send(Ok(answer));
        }),
        Err(error) => {
            if !error.is_passing() {
                tracing::error!(%error, "cannot read what requests ask for");
            }
            askers.into_iter().for_each(|asker| {
                let _ = asker.send(Err(Error::Unavailable(error.to_string())));
            });
        }
    }
}

/// Reads until nobody asks any more.
struct Round<Q, A> {
    waiting: Arc<Mutex<Questions<Q, A>>>,
    is_over: bool,
}

impl<Q, A> Round<Q, A> {
    /// The questions of the next read with those who ask; `None`, and the end of the round, when there are none.
    fn next(&mut self) -> Option<(Vec<Q>, Askers<A>)> {
        let mut waiting = self.waiting.lock();
        if waiting.questions.is_empty() {
            waiting.is_reading = false;
            self.is_over = true;
            return None;
        }
        let some = waiting.questions.len().min(AT_ONCE);
        Some(waiting.questions.drain(..some).unzip())
    }
}

impl<Q, A> Drop for Round<Q, A> {
    /// The thread ended in the middle of a read: those who ask hear of it, and the next one begins a round.
    fn drop(&mut self) {
        if !self.is_over {
            let mut waiting = self.waiting.lock();
            waiting.is_reading = false;
            waiting.questions.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tokio::sync::Semaphore;

    use super::*;

    #[actix::test]
    async fn what_is_asked_during_a_read_is_read_together() {
        let (gathered, reads) = (Gathered::<u64, u64>::default(), Rc::new(RefCell::new(Vec::new())));
        let going = Rc::new(Semaphore::new(0));
        let ask = |question: u64| {
            let (reads, going) = (Rc::clone(&reads), Rc::clone(&going));
            gathered.ask(question, move |questions| {
                reads.borrow_mut().push(questions.clone());
                let going = Rc::clone(&going);
                async move {
                    going.acquire().await.unwrap().forget();
                    Ok(questions.into_iter().map(|question| question * 10).collect())
                }
            })
        };
        let let_go = async {
            // The first read has begun, and four questions wait.
            while reads.borrow().is_empty() {
                tokio::task::yield_now().await;
            }
            going.add_permits(2);
        };
        let (answers, ()) = tokio::join!(futures_util::future::join_all((1..=5).map(ask)), let_go);
        assert_eq!(answers.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [10, 20, 30, 40, 50]);
        let asked: Vec<u64> = reads.borrow().iter().flatten().copied().collect();
        assert_eq!((asked, reads.borrow().len() <= 2), (vec![1, 2, 3, 4, 5], true));
        going.add_permits(1);
        assert_eq!(ask(7).await.unwrap(), 70, "the next one begins a read again");
    }

    #[actix::test]
    async fn a_read_that_fails_is_told_to_everybody_who_asked() {
        let gathered = Gathered::<u64, u64>::default();
        let fail = |_| async { Err(Error::Unavailable("away".to_owned())) };
        let (one, other) = tokio::join!(gathered.ask(1, fail), gathered.ask(2, fail));
        assert!([one, other].iter().all(|answer| matches!(answer, Err(Error::Unavailable(_)))));
        assert_eq!(gathered.ask(3, |asked| async { Ok(asked) }).await.unwrap(), 3);
    }
}
