//! Permits that companies share, so that no company delays another one, however long it keeps its permits.
//!
//! Taking turns is not enough: a company whose links lead to slow hosts would take every permit in its turn
//! and keep it for a minute. So a company takes its first permits as soon as they are free, and further
//! permits only while at least as many stay free as it then holds (dynamic thresholds: A. Choudhury and E.
//! Hahne, 1998). A single company gets half of the permits, two companies get a third each, and a company
//! without permits finds some free.
//!
//! The waiting company that holds the fewest permits is served first; among equals, the one that was served longest
//! ago. A company that asks for more permits than are free does not delay the others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Permits that are granted to companies in turns.
pub struct FairSemaphore(Mutex<State>);

struct State {
    free: usize,
    /// Counts arrivals and grants.
    count: u64,
    /// The companies that hold permits or wait for some.
    companies: HashMap<Uuid, Company>,
}

#[derive(Default)]
struct Company {
    held: usize,
    /// The count at its last grant.
    served: u64,
    /// The waiters, by the count at their arrival.
    waiting: BTreeMap<u64, Waiter>,
}

struct Waiter {
    permits: usize,
    turn: oneshot::Sender<Permit>,
}

/// Permits of a company, returned when this is dropped.
pub struct Permit {
    semaphore: Arc<FairSemaphore>,
    company: Uuid,
    permits: usize,
}

/// A place in the queue, left when this is dropped.
struct Waiting<'semaphore> {
    semaphore: &'semaphore Arc<FairSemaphore>,
    company: Uuid,
    arrival: u64,
}

impl FairSemaphore {
    /// A semaphore with this many permits, all free.
    pub fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { free: permits, count: 0, companies: HashMap::new() })))
    }

    /// Waits for this many permits, which are granted together.
    pub async fn acquire(self: &Arc<Self>, company: Uuid, permits: usize) -> Permit {
        let (turn, granted) = oneshot::channel();
        let arrival = {
            let mut state = self.0.lock();
            state.count += 1;
            let arrival = state.count;
            state.companies.entry(company).or_default().waiting.insert(arrival, Waiter { permits, turn });
            self.serve(&mut state);
            arrival
        };
        let _waiting = Waiting { semaphore: self, company, arrival };
        match granted.await {
            Ok(permit) => permit,
            // This never happens: a waiter stays in the queue until it is served or leaves.
            Err(_) => std::future::pending().await,
        }
    }

    /// Serves all waiters that can be served now.
    fn serve(self: &Arc<Self>, state: &mut State) {
        while let Some((id, Waiter { permits, turn })) = state.next() {
            let permit = Permit { semaphore: Arc::clone(self), company: id, permits };
            // The permit of a waiter that has left. It is emptied, because dropping it would take the lock
            // that is held here.
            if let Err(mut permit) = turn.send(permit) {
                permit.permits = 0;
                state.give_back(id, permits);
            }
        }
    }
}

impl State {
    /// Removes the next waiter that can be served from the queue, and takes its permits.
    fn next(&mut self) -> Option<(Uuid, Waiter)> {
        let first = |(id, company): (&Uuid, &Company)| {
            let (arrival, waiter) = company.waiting.first_key_value()?;
            let is_served = company.may_take(waiter.permits, self.free);
            is_served.then_some((company.held, company.served, *arrival, *id))
        };
        let (_, _, arrival, id) = self.companies.iter().filter_map(first).min()?;
        let company = self.companies.get_mut(&id)?;
        let waiter = company.waiting.remove(&arrival)?;
        self.count += 1;
        self.free -= waiter.permits;
        company.held += waiter.permits;
        company.served = self.count;
        Some((id, waiter))
    }

    fn give_back(&mut self, id: Uuid, permits: usize) {
        self.free += permits;
        if let Some(company) = self.companies.get_mut(&id) {
            company.held -= permits;
            self.forget_idle(id);
        }
    }

    /// Removes a company that neither holds permits nor waits.
    fn forget_idle(&mut self, id: Uuid) {
        if self.companies.get(&id).is_some_and(|company| company.held == 0 && company.waiting.is_empty()) {
            self.companies.remove(&id);
        }
    }
}

impl Company {
    fn may_take(&self, permits: usize, free: usize) -> bool {
        let Some(left) = free.checked_sub(permits) else { return false };
        self.held == 0 || self.held + permits <= left
    }
}

impl Permit {
    /// Returns all permits but this many.
    pub fn shrink(&mut self, permits: usize) {
        let surplus = self.permits.saturating_sub(permits);
        if surplus > 0 {
            self.permits -= surplus;
            let mut state = self.semaphore.0.lock();
            state.give_back(self.company, surplus);
            self.semaphore.serve(&mut state);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.semaphore.0.lock();
        let Some(company) = state.companies.get_mut(&self.company) else { return };
        if company.waiting.remove(&self.arrival).is_some() {
            state.forget_idle(self.company);
            // Another waiter of the same company may need fewer.
            self.semaphore.serve(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const GREEDY: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);
    const THIRD: Uuid = Uuid::from_u128(3);

    /// The permits that this company gets immediately, one at a time.
    fn take(semaphore: &Arc<FairSemaphore>, company: Uuid) -> Vec<Permit> {
        std::iter::from_fn(|| semaphore.acquire(company, 1).now_or_never()).collect()
    }

    fn is_unused(semaphore: &FairSemaphore, permits: usize) -> bool {
        let state = semaphore.0.lock();
        state.free == permits && state.companies.is_empty()
    }

    #[test]
    fn a_company_leaves_as_many_permits_as_it_holds() {
        let semaphore = FairSemaphore::new(32);
        let greedy = take(&semaphore, GREEDY);
        assert_eq!(greedy.len(), 16);
        let other = take(&semaphore, OTHER);
        assert_eq!(other.len(), 8);
        assert_eq!(take(&semaphore, THIRD).len(), 4);
        drop((greedy, other));
        assert!(is_unused(&semaphore, 32));
    }

    #[test]
    fn a_single_permit_is_granted_to_companies_in_turn() {
        let semaphore = FairSemaphore::new(1);
        let held = semaphore.acquire(GREEDY, 1).now_or_never().unwrap();
        let mut greedy: Vec<_> = (0..5).map(|_| Box::pin(semaphore.acquire(GREEDY, 1))).collect();
        assert!(greedy.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let mut other = Box::pin(semaphore.acquire(OTHER, 1));
        assert!((&mut other).now_or_never().is_none());
        drop(held);
        assert!((&mut greedy[0]).now_or_never().is_none());
        let held = other.now_or_never().expect("served before five waiters of the other company");
        let mut other = Box::pin(semaphore.acquire(OTHER, 1));
        assert!((&mut other).now_or_never().is_none());
        drop(held);
        assert!((&mut greedy[0]).now_or_never().is_some(), "served longest ago");
        assert!(other.now_or_never().is_some());
    }

    #[test]
    fn a_company_that_asks_for_more_than_is_free_delays_no_other() {
        let semaphore = FairSemaphore::new(8);
        let held = semaphore.acquire(OTHER, 4).now_or_never().unwrap();
        let mut large = Box::pin(semaphore.acquire(GREEDY, 6));
        assert!((&mut large).now_or_never().is_none());
        assert!(semaphore.acquire(THIRD, 2).now_or_never().is_some());
        // A smaller request of the same company waits behind the large one until that leaves.
        let mut small = Box::pin(semaphore.acquire(GREEDY, 1));
        assert!((&mut small).now_or_never().is_none());
        drop(large);
        assert!(small.now_or_never().is_some());
        drop(held);
        assert!(is_unused(&semaphore, 8));
    }

    #[test]
    fn permits_returned_early_serve_the_waiters() {
        let semaphore = FairSemaphore::new(8);
        let mut held = semaphore.acquire(GREEDY, 8).now_or_never().unwrap();
        let mut other = Box::pin(semaphore.acquire(OTHER, 6));
        assert!((&mut other).now_or_never().is_none());
        held.shrink(3);
        assert!((&mut other).now_or_never().is_none());
        held.shrink(2);
        assert!(other.now_or_never().is_some());
        drop(held);
        assert!(is_unused(&semaphore, 8));
    }

    #[test]
    fn a_permit_that_was_granted_and_not_taken_goes_back() {
        let semaphore = FairSemaphore::new(1);
        let held = semaphore.acquire(GREEDY, 1).now_or_never().unwrap();
        let mut other = Box::pin(semaphore.acquire(OTHER, 1));
        assert!((&mut other).now_or_never().is_none());
        drop(held);
        drop(other);
        assert!(is_unused(&semaphore, 1));
    }
}
