//! Texts on their way to JavaScript.
//!
//! A text stays in the module's memory, where JavaScript reads it: so the module imports nothing.
//! To make a JavaScript string it would have to call out, and V8 compiles an adapter for each
//! function that is called out to in every process, half a millisecond each.

use std::cell::RefCell;

/// Where in memory it says where a text begins and how many bytes of UTF-8 it has: two numbers of
/// 32 bits. It holds until the next call.
pub type Place = usize;

/// A text and where it is.
struct Kept {
    text: String,
    place: [usize; 2],
}

thread_local! {
    static LAST: RefCell<Kept> = const { RefCell::new(Kept { text: String::new(), place: [0; 2] }) };
}

/// Keeps a text for JavaScript to read.
pub(crate) fn handed_over(text: String) -> Place {
    LAST.with_borrow_mut(|last| {
        last.text = text;
        last.place = [last.text.as_ptr().addr(), last.text.len()];
        last.place.as_ptr().addr()
    })
}

/// The text that was handed over last, for tests of this crate.
#[must_use]
pub fn last() -> String {
    LAST.with_borrow(|last| last.text.clone())
}
