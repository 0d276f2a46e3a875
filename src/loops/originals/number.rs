//! The number in a name on a shelf. Pure.

use std::io;

/// The numbers that are tried in order, because people may have removed some of them.
const IN_ORDER: u32 = 20;
const HIGHEST: u32 = 1 << 24;

/// A number whose name is free: the lowest one, if the numbers have no gaps. The search takes logarithmic time, because
/// a program may give thousands of documents the same name.
pub(super) fn free_number(mut is_free: impl FnMut(u32) -> io::Result<bool>) -> io::Result<u32> {
    for n in 1..=IN_ORDER {
        if is_free(n)? {
            return Ok(n);
        }
    }
    let (mut taken, mut free) = (IN_ORDER, IN_ORDER * 2);
    while !is_free(free)? {
        if free >= HIGHEST {
            return Err(io::Error::other("every name is taken"));
        }
        (taken, free) = (free, free * 2);
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_free(middle)? {
            free = middle;
        } else {
            taken = middle;
        }
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_found_in_few_looks() {
        for (taken, most) in
            [(0, 1), (1, 2), (19, 20), (20, 30), (21, 30), (40, 30), (9_999, 60), (1_000_000, 60)]
        {
            let mut looks = 0;
            let found = free_number(|n| {
                looks += 1;
                Ok(n > taken)
            });
            assert_eq!(found.unwrap(), taken + 1);
            assert!(looks <= most, "{taken}: {looks}");
        }
        // A gap among the first ones is used, and what is found is free in any case.
        assert_eq!(free_number(|n| Ok(n == 7)).unwrap(), 7);
        let odd = free_number(|n| Ok(n > 30 && n % 2 == 1 || n > 100)).unwrap();
        assert!(odd > 30 && (odd % 2 == 1 || odd > 100), "{odd}");
        assert!(free_number(|_| Ok(false)).is_err());
        assert!(free_number(|_| Err(io::Error::other("away"))).is_err());
    }
}
