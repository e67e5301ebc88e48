//! The components of pages. Look here before you write markup.

pub(super) mod badge;
pub(super) mod bar;
pub(super) mod browser;
pub(super) mod cause;
pub(super) mod chart;
pub(super) mod confirm;
pub(super) mod copy;
pub(super) mod countries;
pub(super) mod empty;
pub(super) mod explain;
pub(super) mod field;
pub(super) mod fold;
pub(super) mod formatting;
pub(super) mod icon;
pub(super) mod library;
pub(super) mod notice;
pub(super) mod number;
pub(super) mod outcome;
pub(super) mod pager;
pub(super) mod phone;
pub(super) mod reason;
pub(super) mod status;
pub(super) mod table;
pub(super) mod tag;
pub(super) mod time;
pub(super) mod waiting;
