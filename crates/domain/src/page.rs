//! Pages of a list, and other parts of it.

pub mod cursor;

/// The page that a client requests. Both numbers are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The number of the page, from 1; clients may give any number.
    pub page: u128,
    /// Records on a page.
    pub limit: u64,
}

impl PageRequest {
    /// How many records come before this page; at most what databases can count, which is 63 bits.
    pub fn offset(self) -> u64 {
        let before = self.page.saturating_sub(1).saturating_mul(self.limit.into());
        u64::try_from(before).unwrap_or(u64::MAX).min(i64::MAX as u64)
    }
}

/// The part of a list that a client requests: a page, or what follows a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<K> {
    /// Where it begins.
    pub start: Start<K>,
    /// The most records in it.
    pub limit: u64,
}

/// Where a part of a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start<K> {
    /// After this many records: what others add and remove meanwhile moves it.
    Offset(u64),
    /// After the record with this key: it stays there whatever others add and remove.
    After(K),
}

impl<K> From<PageRequest> for Window<K> {
    fn from(page: PageRequest) -> Self {
        Self { start: Start::Offset(page.offset()), limit: page.limit }
    }
}

impl<K> Window<K> {
    /// The records that it skips, and the key that it begins after.
    pub fn parts(self) -> (u64, Option<K>) {
        match self.start {
            Start::Offset(offset) => (offset, None),
            Start::After(key) => (0, Some(key)),
        }
    }
}

/// One page, with the total number of matching records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The records of this page.
    pub records: Vec<T>,
    /// Matching records across all pages.
    pub total: u64,
}

impl<T> Page<T> {
    /// How many pages there are; 0 when nothing matches.
    pub const fn pages(&self, limit: u64) -> u64 {
        self.total.div_ceil(limit)
    }

    /// A page of all that matches, which is in memory.
    pub fn of(matching: Vec<T>, page: PageRequest) -> Self {
        let total = matching.len() as u64;
        let skipped = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        Self { records: matching.into_iter().skip(skipped).take(limit).collect(), total }
    }

    /// The page with its records converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { records: self.records.into_iter().map(convert).collect(), total: self.total }
    }

    /// The same with a conversion that may fail.
    ///
    /// # Errors
    ///
    /// That of the first record that cannot be converted.
    pub fn try_map<U, E>(self, convert: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        let records = self.records.into_iter().map(convert).collect::<Result<_, E>>()?;
        Ok(Page { records, total: self.total })
    }
}
