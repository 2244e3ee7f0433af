//! The file: how its lines are scanned, where its header and its leaf pointer are, and where
//! sessions live.

pub mod append;
pub mod create;
pub mod discover;
pub mod header;
pub mod index;
pub mod leaf;
pub mod list;
pub mod lock;
pub mod moves;
pub mod query;
pub mod replace;
pub mod source;

/// The id of an entry of a version 1 file, which stores none: 16 hex digits that follow from the
/// session's id and the record's place among those that parse (the header is 0), so that they are
/// the same at every run and in every copy.
pub fn v1_id(session_id: &str, place: u64) -> String {
    // FNV-1a over the session's id, then the finaliser of splitmix64, which is a bijection: two
    // places of one session never share an id.
    let seed = session_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| {
            (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    let mut z = seed.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    format!("{:016x}", z ^ (z >> 31))
}

#[cfg(test)]
mod tests {
    use super::v1_id;

    #[test]
    fn v1_ids_never_change() {
        // Scripts may have noted them: a change here breaks what people wrote down.
        assert_eq!(
            v1_id("01976a7c-0000-7000-8000-000000000000", 1),
            "b4b5237cd54b5cf8"
        );
        assert_ne!(v1_id("a", 1), v1_id("a", 2));
        assert_ne!(v1_id("a", 1), v1_id("b", 1));
    }
}
