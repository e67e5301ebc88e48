//! The simulator through real HTTP.
