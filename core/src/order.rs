//! Sorting and looking up by number, each compiled once: a copy of the sort for every type would
//! be a tenth of the module that browsers load.

use std::cmp::Ordering;

/// The indices `0..len` in the order that `compare` gives, equals in the order of the indices.
#[inline(never)]
pub(crate) fn order_by(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..len).collect();
    indices.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    indices
}

/// The indices `0..len` in the order of their keys, equal keys in the order of the indices.
pub(crate) fn order(len: usize, key: &dyn Fn(usize) -> (u64, u64)) -> Vec<usize> {
    let keys: Vec<(u64, u64)> = (0..len).map(key).collect();
    order_by(len, &|a, b| keys.get(a).cmp(&keys.get(b)))
}

/// A list in the order of its keys, equal keys in the order they stood in.
pub(crate) fn sorted<T>(list: Vec<T>, key: impl Fn(&T) -> (u64, u64)) -> Vec<T> {
    let order = order(list.len(), &|at| list.get(at).map(&key).unwrap_or_default());
    let mut slots: Vec<Option<T>> = list.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| slots.get_mut(at).and_then(Option::take)).collect()
}

/// Numbers in ascending order.
#[inline(never)]
pub(crate) fn sort(numbers: &mut [u32]) {
    let given = numbers.to_vec();
    let order = order_by(given.len(), &|a, b| given.get(a).cmp(&given.get(b)));
    for (slot, at) in numbers.iter_mut().zip(order) {
        *slot = given.get(at).copied().unwrap_or_default();
    }
}

/// A stage number, or another small number, to an index: the first that was given for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstOf {
    entries: Vec<(u32, usize)>,
}

impl FirstOf {
    /// Takes the numbers with their indices in order.
    pub(crate) fn new(numbers: impl Iterator<Item = (u32, usize)>) -> Self {
        let given: Vec<(u32, usize)> = numbers.collect();
        // Ascending, as nearly always, needs no sorting.
        if given.windows(2).all(|pair| matches!(pair, [a, b] if a.0 < b.0)) {
            return Self { entries: given };
        }
        Self { entries: Self::ordered(&given) }
    }

    #[inline(never)]
    fn ordered(given: &[(u32, usize)]) -> Vec<(u32, usize)> {
        let order = order(given.len(), &|at| {
            given.get(at).map_or((0, 0), |(number, _)| (u64::from(*number), 0))
        });
        let mut entries: Vec<(u32, usize)> = Vec::with_capacity(given.len());
        for (number, index) in order.into_iter().filter_map(|at| given.get(at).copied()) {
            if entries.last().is_none_or(|(last, _)| *last != number) {
                entries.push((number, index));
            }
        }
        entries
    }

    /// The index of a number.
    pub(crate) fn get(&self, number: u32) -> Option<usize> {
        let at = self.entries.partition_point(|(entry, _)| *entry < number);
        self.entries.get(at).filter(|(entry, _)| *entry == number).map(|(_, index)| *index)
    }

    /// Whether the number is known.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.get(number).is_some()
    }

    /// How many different numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The numbers, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstOf, sorted};

    #[test]
    fn the_first_of_a_number_stays() {
        let first = FirstOf::new([(3, 0), (1, 1), (3, 2)].into_iter());
        assert_eq!(
            (first.get(3), first.get(1), first.get(2), first.len()),
            (Some(0), Some(1), None, 2)
        );
    }

    #[test]
    fn sorting_keeps_equals_in_order() {
        let list = sorted(vec!["bb", "a", "cc", "d"], |text| (text.len() as u64, 0));
        assert_eq!(list, ["a", "d", "bb", "cc"]);
    }
}
