#![no_main]

#[path = "../checks.rs"]
#[expect(dead_code, reason = "this target calls one of the functions")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::csv(bytes));
