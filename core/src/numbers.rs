//! Sets and maps of stage numbers that are made once: lists in ascending order.
//!
//! A tree would do as well. But V8 compiles every function that a short-lived process touches, and
//! the trees of the standard library bring seventy for a claim alone.

use serde::Serialize;

use crate::order::{sort, sorted};

/// Numbers, ascending, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Numbers(Vec<u32>);

impl Numbers {
    /// Whether the number is one of them.
    pub fn contains(&self, number: u32) -> bool {
        self.0.binary_search(&number).is_ok()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// Keeps those that `keep` says.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.0.retain(|number| keep(*number));
    }

    /// The numbers as a list.
    pub fn into_vec(self) -> Vec<u32> {
        self.0
    }
}

impl FromIterator<u32> for Numbers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self(ascending(numbers.into_iter().collect()))
    }
}

/// The numbers in ascending order, each once.
#[inline(never)]
fn ascending(mut numbers: Vec<u32>) -> Vec<u32> {
    if !numbers.is_sorted_by(|a, b| a < b) {
        sort(&mut numbers);
        numbers.dedup();
    }
    numbers
}

/// Values by their numbers, in ascending order; of several values of a number the last counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByNumber<T>(Vec<(u32, T)>);

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByNumber<T> {
    /// The value of a number.
    pub fn get(&self, number: u32) -> Option<&T> {
        let at = self.0.partition_point(|(key, _)| *key < number);
        self.0.get(at).filter(|(key, _)| *key == number).map(|(_, value)| value)
    }

    /// The numbers with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().map(|(number, value)| (*number, value))
    }
}

impl<T> FromIterator<(u32, T)> for ByNumber<T> {
    fn from_iter<I: IntoIterator<Item = (u32, T)>>(values: I) -> Self {
        let mut list: Vec<(u32, T)> = values.into_iter().collect();
        if !list.is_sorted_by(|a, b| a.0 < b.0) {
            list.reverse();
            list = sorted(list, |(number, _)| (u64::from(*number), 0));
            list.dedup_by_key(|(number, _)| *number);
        }
        Self(list)
    }
}

#[cfg(test)]
mod tests {
    use super::{ByNumber, Numbers};

    #[test]
    fn numbers_are_a_set() {
        let mut numbers: Numbers = [3, 1, 3, 2].into_iter().collect();
        assert_eq!(numbers.as_slice(), [1, 2, 3]);
        assert!(numbers.contains(3) && !numbers.contains(4));
        numbers.retain(|number| number != 2);
        assert_eq!(numbers.into_vec(), [1, 3]);
    }

    #[test]
    fn the_last_value_of_a_number_counts() {
        let values: ByNumber<&str> = [(2, "a"), (1, "b"), (2, "c")].into_iter().collect();
        assert_eq!(values.iter().collect::<Vec<_>>(), [(1, &"b"), (2, &"c")]);
        assert_eq!((values.get(2), values.get(3)), (Some(&"c"), None));
    }
}
