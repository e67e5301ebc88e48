//! Channels that ask, send, give back, crash and leave, from a seed: against a list of all that was sent.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::dice::Dice;

const SEEDS: u64 = 300;
const STEPS: usize = 250;
const CHANNELS: u128 = 4;
const PEOPLE: u64 = 24;
const QUOTA: u32 = 7;

/// A channel as the account sees it: it writes only to people who are granted to it.
#[derive(Default)]
struct Sender {
    held: BTreeSet<u64>,
    untold: Vec<(u64, Timestamp)>,
    /// How often grants had become void when it last looked.
    voids: u64,
}

struct Run {
    world: World,
    dice: Dice,
    senders: BTreeMap<u128, Sender>,
    /// Every message that the provider took, or may have.
    sent: Vec<(u64, Timestamp)>,
    /// Messages that a crash left marked: it is unknown whether they were sent.
    doubtful: Vec<(u64, Timestamp)>,
    /// Messages of the present process that the provider may still refuse.
    unanswered: Vec<(u128, u64, Timestamp)>,
    /// People who got several messages, of which the provider refused one: they may have to wait.
    shaky: BTreeSet<u64>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut run = Self {
            world: World::new(),
            dice: Dice::new(seed),
            senders: BTreeMap::new(),
            sent: Vec::new(),
            doubtful: Vec::new(),
            unanswered: Vec::new(),
            shaky: BTreeSet::new(),
        };
        run.start();
        run
    }

    /// A process starts.
    fn start(&mut self) {
        let at = self.world.at;
        self.world = World { at, ..World::new() };
        self.shaky.clear();
        for number in 1..=CHANNELS {
            self.join(number);
        }
        self.read();
    }

    /// The store is read, if the account asked for that.
    fn read(&mut self) {
        let is_read = |effect: &Effect| matches!(effect, Effect::ReadPeople { .. });
        let Some(Effect::ReadPeople { span }) = self.world.wanted.extract_if(.., |it| is_read(it)).last()
        else {
            return;
        };
        let certain = self.sent.iter().map(|(nth, at)| (*nth, *at, true));
        let doubtful = self.doubtful.iter().map(|(nth, at)| (*nth, *at, false));
        let people = certain.chain(doubtful).filter(|(_, at, _)| *at > span.0);
        let people = people.map(|(nth, at, is_certain)| WrittenTo { recipient: person(nth), at, is_certain });
        let pages: Vec<Vec<_>> = people.collect::<Vec<_>>().chunks(5).map(<[WrittenTo]>::to_vec).collect();
        for page in pages {
            self.world.feed(Input::PeopleFound(page));
        }
        self.world.feed(Input::PeopleRead { span, result: Ok(()) });
    }

    fn join(&mut self, number: u128) {
        self.senders.insert(number, Sender::default());
        self.world.feed(Input::Joined);
        self.world.feed(Input::PeopleWanted { channel: channel(number) });
    }

    /// The number of people who were written to within the last day, except this one.
    fn others(&self, but: u64) -> usize {
        let now = self.world.at.wall;
        let people = self.sent.iter().filter(|(nth, at)| *nth != but && at.plus(DAY) > now);
        people.map(|(nth, _)| *nth).collect::<BTreeSet<_>>().len()
    }

    fn is_counted(&self, nth: u64) -> bool {
        let now = self.world.at.wall;
        self.sent.iter().any(|(sent, at)| *sent == nth && at.plus(DAY) > now)
    }

    /// Whether the account knows that this person was written to.
    fn is_known(&self, nth: u64) -> bool {
        let now = self.world.at.wall;
        let is_told =
            |sent: &(u64, Timestamp)| self.senders.values().all(|sender| !sender.untold.contains(sent));
        !self.shaky.contains(&nth)
            && self.sent.iter().any(|sent| sent.0 == nth && sent.1.plus(DAY) > now && is_told(sent))
    }

    /// Talks to the account, and asks for some people.
    fn ask(&mut self, number: u128, wanted: &[u64]) {
        let sender = self.senders.get_mut(&number).unwrap();
        let returned: Vec<_> = sender.held.iter().copied().filter(|_| self.dice.below(3) == 0).collect();
        for nth in &returned {
            sender.held.remove(nth);
        }
        let sent = std::mem::take(&mut sender.untold);
        let ask = Ask {
            sent: sent.into_iter().map(|(nth, at)| (person(nth), at)).collect(),
            returned: returned.iter().map(|nth| person(*nth)).collect(),
            wanted: wanted.iter().map(|nth| person(*nth)).collect(),
            ..nothing()
        };
        let refused = self.world.ask(number, QUOTA, ask).refused;
        let known: Vec<_> = wanted.iter().filter(|nth| self.is_known(**nth)).collect();
        assert!(known.iter().all(|nth| !refused.contains(&person(**nth))), "a person who counts passes");
        let sender = self.senders.get_mut(&number).unwrap();
        sender.held.extend(wanted.iter().filter(|nth| !refused.contains(&person(**nth))));
    }

    /// A channel without a quota writes to a person.
    fn send_without_quota(&mut self) {
        let nth = self.dice.below(PEOPLE);
        self.world.feed(Input::Counted { recipient: person(nth) });
        self.sent.push((nth, self.world.at.wall));
    }

    /// Writes to a granted person, unless the grants are void.
    fn send(&mut self, number: u128) {
        let voids = self.world.published.voids;
        let sender = self.senders.get_mut(&number).unwrap();
        if std::mem::replace(&mut sender.voids, voids) != voids {
            let returned = std::mem::take(&mut sender.held).into_iter().map(person).collect();
            let sent = std::mem::take(&mut sender.untold).into_iter().map(|(nth, at)| (person(nth), at));
            let ask = Ask { sent: sent.collect(), returned, ..nothing() };
            self.world.ask(number, QUOTA, ask);
            return;
        }
        let place = self.dice.below(8) as usize;
        let Some(nth) = self.senders[&number].held.iter().nth(place).copied() else { return };
        assert!(
            self.is_counted(nth) || self.others(nth) < QUOTA as usize,
            "one more than {QUOTA} people within 24 hours"
        );
        let at = self.world.at.wall;
        self.sent.push((nth, at));
        self.senders.get_mut(&number).unwrap().untold.push((nth, at));
        self.unanswered.push((number, nth, at));
    }

    /// The provider answers the oldest message, and refuses some.
    fn answer(&mut self) {
        if self.unanswered.is_empty() {
            return;
        }
        let (number, nth, at) = self.unanswered.remove(0);
        if self.dice.below(3) > 0 {
            return;
        }
        if self.sent.iter().filter(|(sent, _)| *sent == nth).count() > 1 {
            self.shaky.insert(nth);
        }
        self.sent.retain(|sent| *sent != (nth, at));
        let untold = self.senders.get_mut(&number).map(|sender| &mut sender.untold);
        let untold = untold.and_then(|untold| {
            let place = untold.iter().position(|untold| *untold == (nth, at))?;
            Some(untold.remove(place))
        });
        if untold.is_none() {
            self.world.feed(Input::Released { recipient: person(nth), at });
        }
    }

    fn crash(&mut self) {
        let marked: BTreeSet<_> =
            std::mem::take(&mut self.senders).into_values().flat_map(|sender| sender.held).collect();
        self.doubtful.extend(marked.into_iter().map(|nth| (nth, self.world.at.wall)));
        self.unanswered.clear();
        self.start();
    }

    fn leave(&mut self, number: u128) {
        let Some(sender) = self.senders.remove(&number) else { return };
        let sent = sender.untold.into_iter().map(|(nth, at)| (person(nth), at)).collect();
        self.world.ask(number, QUOTA, Ask { sent, ..nothing() });
        self.world.feed(Input::Left { channel: channel(number) });
        self.unanswered.retain(|(by, _, _)| *by != number);
    }

    fn step(&mut self) {
        let number = u128::from(self.dice.below(CHANNELS as u64)) + 1;
        match self.dice.below(40) {
            0 => self.crash(),
            1 => self.leave(number),
            2..=4 => {
                let hours = self.dice.below(7);
                self.world.pass(Duration::from_secs(hours * 3_600));
            }
            _ if !self.senders.contains_key(&number) => {
                self.join(number);
                self.read();
            }
            5..=17 => {
                let wanted: Vec<_> = (0..=self.dice.below(3))
                    .map(|_| self.dice.below(PEOPLE))
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect();
                self.ask(number, &wanted);
            }
            18 => self.send_without_quota(),
            19..=24 => self.answer(),
            _ => self.send(number),
        }
        self.world.pass(Duration::from_millis(self.dice.below(900) + 1));
    }

    /// All granted people are returned, and a day later there is room for as many people as the quota allows.
    fn end(mut self) {
        while !self.unanswered.is_empty() {
            self.answer();
        }
        for number in 1..=CHANNELS {
            self.leave(number);
        }
        assert_eq!(
            self.world.used(),
            self.world.machine.window().used(self.world.at.wall),
            "all grants are returned"
        );
        self.world.pass(DAY + 3_600 * SECOND);
        assert_eq!(self.world.used(), 0);
        self.join(1);
        self.read();
        assert_eq!(self.world.grant(1, QUOTA, 0..PEOPLE), u64::from(QUOTA));
    }
}

#[test]
fn the_quota_of_a_day_is_kept_whichever_channels_send_crash_and_leave() {
    for seed in 0..SEEDS {
        let mut run = Run::new(seed);
        for _ in 0..STEPS {
            run.step();
        }
        run.end();
    }
}
