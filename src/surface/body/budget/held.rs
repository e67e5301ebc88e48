//! Who holds how much, and who may hold more.

use std::collections::{BTreeMap, HashMap};

use tokio::sync::oneshot;
use uuid::Uuid;

use super::VISITORS;
use crate::surface::body::sender::Sender;

/// The part of the memory for visitors that one network may hold: forms of hundreds of people who sign in at the same
/// moment.
const NETWORK: usize = VISITORS / 16;

/// The bytes that bodies hold.
pub(super) struct Held {
    most: usize,
    /// All bytes, without those of visitors.
    all: usize,
    /// The part of these bytes that webhooks hold.
    hooks: usize,
    /// The part of these bytes that programs hold which are not known.
    programs: usize,
    visitors: usize,
    by_sender: HashMap<Sender, usize, foldhash::quality::RandomState>,
    /// The bytes that the people of each company hold together.
    by_company: HashMap<Uuid, usize, foldhash::quality::RandomState>,
    /// Forms of visitors that are arriving, the oldest first.
    arriving: BTreeMap<u64, Arriving>,
    next: u64,
}

struct Arriving {
    sender: Sender,
    bytes: usize,
    /// Dropped to end the reading of the body.
    _stays: oneshot::Sender<()>,
}

impl Held {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            all: 0,
            hooks: 0,
            programs: 0,
            visitors: 0,
            by_sender: HashMap::default(),
            by_company: HashMap::default(),
            arriving: BTreeMap::new(),
            next: 0,
        }
    }

    /// All bytes that are held.
    pub(super) const fn total(&self) -> usize {
        self.all + self.visitors
    }

    /// The most that one body of this sender may ever take with what is made of it.
    pub(super) const fn largest(&self, sender: Sender) -> usize {
        match sender {
            Sender::Company(_) | Sender::Operator | Sender::Person { .. } | Sender::Hook(..) => self.most / 2,
            Sender::Program(_) => self.of_programs(),
            Sender::Visitor(_) => NETWORK,
        }
    }

    /// The most that programs which are not known may hold together.
    const fn of_programs(&self) -> usize {
        self.most / 4
    }

    /// Whether the sender may hold this many more bytes.
    pub(super) fn allows(&self, sender: Sender, bytes: usize) -> bool {
        let own = self.own(sender).saturating_add(bytes);
        let free = self.most.saturating_sub(self.all);
        match sender {
            Sender::Company(_) | Sender::Operator => own <= free,
            Sender::Hook(..) => own <= free.min((self.most / 2).saturating_sub(self.hooks)),
            Sender::Person { company, .. } => {
                let together = self.by_company.get(&company).copied().unwrap_or_default();
                own <= free.saturating_sub(together)
            }
            Sender::Program(_) => own <= free.min(self.of_programs().saturating_sub(self.programs)),
            Sender::Visitor(_) => own <= NETWORK.min(VISITORS.saturating_sub(self.visitors)),
        }
    }

    fn own(&self, sender: Sender) -> usize {
        self.by_sender.get(&sender).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, sender: Sender, bytes: usize) {
        if bytes == 0 {
            return;
        }
        match sender {
            Sender::Visitor(_) => self.visitors += bytes,
            Sender::Hook(..) => {
                self.all += bytes;
                self.hooks += bytes;
            }
            Sender::Program(_) => {
                self.all += bytes;
                self.programs += bytes;
            }
            Sender::Person { company, .. } => {
                self.all += bytes;
                *self.by_company.entry(company).or_default() += bytes;
            }
            Sender::Company(_) | Sender::Operator => self.all += bytes,
        }
        *self.by_sender.entry(sender).or_default() += bytes;
    }

    pub(super) fn remove(&mut self, sender: Sender, bytes: usize) {
        match sender {
            Sender::Visitor(_) => self.visitors -= bytes,
            Sender::Hook(..) => {
                self.all -= bytes;
                self.hooks -= bytes;
            }
            Sender::Program(_) => {
                self.all -= bytes;
                self.programs -= bytes;
            }
            Sender::Person { company, .. } => {
                self.all -= bytes;
                subtract(&mut self.by_company, &company, bytes);
            }
            Sender::Company(_) | Sender::Operator => self.all -= bytes,
        }
        subtract(&mut self.by_sender, &sender, bytes);
    }

    /// Notes a body that arrives and may have to make room; its number.
    pub(super) fn arrive(&mut self, sender: Sender, stays: oneshot::Sender<()>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.arriving.insert(number, Arriving { sender, bytes: 0, _stays: stays });
        number
    }

    /// The body holds more. Returns whether it is still arriving, and has not made room.
    pub(super) fn grow_arriving(&mut self, number: u64, bytes: usize) -> bool {
        let arriving = self.arriving.get_mut(&number);
        arriving.map(|arriving| arriving.bytes += bytes).is_some()
    }

    pub(super) fn shrink_arriving(&mut self, number: u64, bytes: usize) {
        if let Some(arriving) = self.arriving.get_mut(&number) {
            arriving.bytes -= bytes;
        }
    }

    /// The body has arrived, or is gone. Returns whether it has not made room.
    pub(super) fn settle(&mut self, number: u64) -> bool {
        self.arriving.remove(&number).is_some()
    }

    /// Ends the arrival of the oldest form, among those of the network that holds most, so that another form of
    /// `sender` finds room. Returns whether there was one.
    pub(super) fn make_room(&mut self, sender: Sender, bytes: usize, but: Option<u64>) -> bool {
        if !matches!(sender, Sender::Visitor(_)) {
            return false;
        }
        let is_over = self.own(sender).saturating_add(bytes) > NETWORK;
        let others = self.arriving.iter().filter(|(number, arriving)| {
            Some(**number) != but && arriving.bytes > 0 && (!is_over || arriving.sender == sender)
        });
        // Of equal ones, the first is the oldest.
        let holds_most = others.rev().max_by_key(|(_, arriving)| self.own(arriving.sender));
        let Some(number) = holds_most.map(|(number, _)| *number) else { return false };
        let Some(Arriving { sender, bytes, .. }) = self.arriving.remove(&number) else { return false };
        self.remove(sender, bytes);
        true
    }
}

fn subtract<K: Eq + std::hash::Hash>(
    held: &mut HashMap<K, usize, foldhash::quality::RandomState>,
    holder: &K,
    bytes: usize,
) {
    if let Some(own) = held.get_mut(holder) {
        *own = own.saturating_sub(bytes);
        if *own == 0 {
            held.remove(holder);
        }
    }
}
