//! The sources of a send's audience, beside the numbers in its request.

use uuid::Uuid;

/// One source of an audience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The contacts of a tag.
    Tag(Uuid),
    /// The contacts of a tag, who are left out.
    WithoutTag(Uuid),
    /// The contacts that a segment selected.
    Segment(Uuid),
    /// Messages of an earlier send, which are sent again.
    Send(Uuid),
    /// The people of this other send whose window is closed, who get a template in place of its content; without a send, all
    /// people of the request.
    Closed(Option<Uuid>),
}

impl Source {
    /// The number that the database keeps for the kind of source.
    pub const fn kind(self) -> i16 {
        match self {
            Self::Tag(_) => 0,
            Self::Send(_) => 1,
            Self::WithoutTag(_) => 2,
            Self::Segment(_) => 3,
            Self::Closed(_) => 4,
        }
    }

    /// The tag, the segment or the send; nil where there is none.
    pub const fn id(self) -> Uuid {
        match self {
            Self::Tag(id) | Self::WithoutTag(id) | Self::Segment(id) | Self::Send(id) => id,
            Self::Closed(Some(id)) => id,
            Self::Closed(None) => Uuid::nil(),
        }
    }

    /// Reads the stored values.
    pub fn from_row(kind: i16, id: Uuid) -> Option<Self> {
        let other = (!id.is_nil()).then_some(id);
        let all =
            [Self::Tag(id), Self::Send(id), Self::WithoutTag(id), Self::Segment(id), Self::Closed(other)];
        all.into_iter().find(|source| source.kind() == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read_back_from_its_row() {
        let id = Uuid::from_u128(7);
        for source in [
            Source::Tag(id),
            Source::Send(id),
            Source::WithoutTag(id),
            Source::Segment(id),
            Source::Closed(Some(id)),
            Source::Closed(None),
        ] {
            assert_eq!(Source::from_row(source.kind(), source.id()), Some(source));
        }
        assert_eq!(Source::from_row(5, id), None);
    }
}
