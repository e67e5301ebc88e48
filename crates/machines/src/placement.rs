//! Placement of channels: which of them move together, and which node is proposed for them.
//!
//! The proposal is rendezvous hashing, weighted by cores: when a node joins or leaves, only the channels that it gets
//! or had move. A proposal alone decides nothing: two nodes that see different members may both be proposed, and the
//! owner's row has one winner.

use uuid::Uuid;

use domain::channel::{Channel, Kind};

/// The background work that one node does for all: imports, retention and the like.
pub const HOUSEKEEPING: Uuid = Uuid::from_u128(1);

/// A node that takes channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its id, which is new for each process.
    pub id: Uuid,
    /// How much of the work it takes.
    pub cores: u32,
}

/// The shard of a channel. The channels of one business account share a quota, whichever companies they belong to, so
/// they move together; a web session moves alone. The value must be the same in every version that may serve in one
/// cluster.
pub fn shard(channel: &Channel) -> Uuid {
    shard_of(channel.id, channel.kind, channel.waba_id.as_deref())
}

/// The shard of a channel, from the facts that decide it.
pub fn shard_of(channel: Uuid, kind: Kind, account: Option<&str>) -> Uuid {
    match (kind, account) {
        (Kind::BusinessAccount, Some(account)) => {
            let [high, low] = [0, 1]
                .map(|seed| account.bytes().fold(mixed(seed), |hash, byte| mixed(hash ^ u64::from(byte))));
            Uuid::from_u128((u128::from(high) << 64) | u128::from(low))
        }
        _ => channel,
    }
}

/// The node that is proposed for a shard.
pub fn proposed(members: &[Member], shard: Uuid) -> Option<Uuid> {
    let scores = members.iter().map(|member| (score(*member, shard), member.id));
    scores.max_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b))).map(|(_, id)| id)
}

/// The member with the greatest score wins, with a chance in proportion to its cores.
fn score(member: Member, shard: Uuid) -> f64 {
    let [a, b] = [member.id, shard].map(|id| {
        let id = id.as_u128();
        let [high, low] =
            [id >> 64, id & u128::from(u64::MAX)].map(|half| u64::try_from(half).unwrap_or_default());
        mixed(mixed(high) ^ low)
    });
    // A fraction has 53 bits; never zero.
    let fraction = ((mixed(a ^ b.rotate_left(17)) >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    -f64::from(member.cores.max(1)) / fraction.ln().min(-f64::MIN_POSITIVE)
}

/// SplitMix64's finalizer: every bit of the input changes every bit of the result.
const fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(cores: &[u32]) -> Vec<Member> {
        let id = |place: usize| Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + place as u128);
        cores.iter().enumerate().map(|(place, cores)| Member { id: id(place), cores: *cores }).collect()
    }

    fn shares(members: &[Member]) -> Vec<usize> {
        let owner = |shard: u128| proposed(members, Uuid::from_u128(shard)).unwrap();
        let owners: Vec<_> = (0..40_000).map(owner).collect();
        members.iter().map(|member| owners.iter().filter(|owner| **owner == member.id).count()).collect()
    }

    #[test]
    fn shards_are_shared_out_in_proportion_to_the_cores() {
        let shares = shares(&members(&[2, 2, 4]));
        for (share, expected) in shares.iter().zip([10_000, 10_000, 20_000]) {
            assert!(share.abs_diff(expected) < 600, "{shares:?}");
        }
    }

    #[test]
    fn a_node_that_leaves_moves_only_its_own_shards() {
        let before = members(&[2, 2, 2, 2]);
        let after: Vec<_> = before.iter().copied().filter(|member| member.id != before[1].id).collect();
        for shard in (0..10_000).map(Uuid::from_u128) {
            let (had, has) = (proposed(&before, shard), proposed(&after, shard));
            assert!(had == has || had == Some(before[1].id));
        }
    }

    #[test]
    fn the_channels_of_a_business_account_are_one_shard_and_each_web_session_is_one() {
        let of = |channel: u128, kind, account| shard_of(Uuid::from_u128(channel), kind, account);
        let account = |channel, id| of(channel, Kind::BusinessAccount, Some(id));
        assert_eq!(account(2, "102290129340398"), account(3, "102290129340398"));
        assert_ne!(account(2, "102290129340398"), account(2, "102290129340399"));
        for channel in [2, 3] {
            let alone = Uuid::from_u128(channel);
            assert_eq!(of(channel, Kind::WebSession, None), alone);
            assert_eq!(of(channel, Kind::BusinessAccount, None), alone, "no account is known of it");
        }
    }

    #[test]
    fn the_shard_of_an_account_is_the_same_in_every_version() {
        let shard = shard_of(Uuid::nil(), Kind::BusinessAccount, Some("102290129340398"));
        assert_eq!(shard.to_string(), "c0b61082-0643-a59e-39a2-7d2e3c3dc28e");
    }

    #[test]
    fn no_node_is_proposed_without_members() {
        assert_eq!(proposed(&[], HOUSEKEEPING), None);
    }
}
