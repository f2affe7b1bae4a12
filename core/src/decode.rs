//! Facts and requests out of JSON.
//!
//! Written by hand instead of derived: one small function for each type of field, where a derived
//! reader is compiled for every structure anew and would make up a tenth of the module.

use serde_json::{Map, Value};

use crate::error::OkstraError;

/// A value that can be read out of JSON.
pub trait Decode: Sized {
    /// Reads it. The error says what is wrong, without the place.
    fn decode(value: &Value) -> Result<Self, String>;

    /// What a missing field means; `None` where it has to be there.
    fn missing() -> Option<Self>;
}

/// Reads a JSON text. `what` is its name in the error.
pub fn decoded<T: Decode>(text: &str, what: &str) -> Result<T, OkstraError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| bad(what, &format!("no JSON: {error}")))?;
    T::decode(&value).map_err(|reason| bad(what, &reason))
}

fn bad(what: &str, reason: &str) -> OkstraError {
    OkstraError::BadOptions { reason: format!("{what}: {reason}") }
}

/// The members of an object with no other keys than these.
#[inline(never)]
pub(crate) fn members<'v>(
    value: &'v Value,
    known: &[&str],
) -> Result<&'v Map<String, Value>, String> {
    let Some(map) = value.as_object() else {
        return Err(String::from("must be an object"));
    };
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            Err(format!("unknown field `{key}`, expected one of `{}`", known.join("`, `")))
        }
        None => Ok(map),
    }
}

/// A member of an object.
pub(crate) fn field<T: Decode>(map: &Map<String, Value>, name: &str) -> Result<T, String> {
    match map.get(name) {
        Some(value) => T::decode(value).map_err(|reason| in_field(name, &reason)),
        None => T::missing().ok_or_else(|| format!("the field `{name}` is missing")),
    }
}

#[cold]
#[inline(never)]
fn in_field(name: &str, reason: &str) -> String {
    match reason.strip_prefix("must be ") {
        Some(_) => format!("{name} {reason}"),
        None => format!("{name}: {reason}"),
    }
}

impl Decode for String {
    fn decode(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| String::from("must be a string"))
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }
}

impl Decode for bool {
    fn decode(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| String::from("must be true or false"))
    }

    fn missing() -> Option<Self> {
        Some(false)
    }
}

impl Decode for u64 {
    fn decode(value: &Value) -> Result<Self, String> {
        value.as_u64().ok_or_else(|| String::from("must be a whole number"))
    }

    fn missing() -> Option<Self> {
        None
    }
}

impl Decode for u32 {
    fn decode(value: &Value) -> Result<Self, String> {
        let number = u64::decode(value)?;
        Self::try_from(number).map_err(|_| String::from("must be a smaller number"))
    }

    fn missing() -> Option<Self> {
        None
    }
}

impl Decode for f64 {
    fn decode(value: &Value) -> Result<Self, String> {
        value.as_f64().ok_or_else(|| String::from("must be a number"))
    }

    fn missing() -> Option<Self> {
        None
    }
}

impl Decode for Value {
    fn decode(value: &Value) -> Result<Self, String> {
        Ok(value.clone())
    }

    fn missing() -> Option<Self> {
        Some(Self::Null)
    }
}

/// Nothing at all: what a request without fields is.
impl Decode for () {
    fn decode(_: &Value) -> Result<Self, String> {
        Ok(())
    }

    fn missing() -> Option<Self> {
        Some(())
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(value: &Value) -> Result<Self, String> {
        if value.is_null() { Ok(None) } else { T::decode(value).map(Some) }
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(value: &Value) -> Result<Self, String> {
        let list = value.as_array().ok_or_else(|| String::from("must be a list"))?;
        list.iter().map(T::decode).collect()
    }

    fn missing() -> Option<Self> {
        Some(Self::new())
    }
}

/// Implements [`Decode`] for a structure: every field by its name. With `optional` before its name
/// a missing structure is the empty one.
macro_rules! decode {
    (optional $name:ident { $($field:ident),* $(,)? }) => {
        $crate::decode::decode!(@ $name { $($field),* } Some(Self::default()));
    };
    ($name:ident { $($field:ident),* $(,)? }) => {
        $crate::decode::decode!(@ $name { $($field),* } None);
    };
    (@ $name:ident { $($field:ident),* } $missing:expr) => {
        impl $crate::decode::Decode for $name {
            fn decode(value: &serde_json::Value) -> Result<Self, String> {
                let map = $crate::decode::members(value, &[$(stringify!($field)),*])?;
                Ok(Self { $($field: $crate::decode::field(map, stringify!($field))?),* })
            }

            fn missing() -> Option<Self> {
                $missing
            }
        }
    };
}
pub(crate) use decode;

/// Implements [`Decode`] for a set of words; `$missing` is what a missing one means.
macro_rules! decode_words {
    ($name:ident { $($word:literal => $variant:ident),* } $missing:expr) => {
        impl $crate::decode::Decode for $name {
            fn decode(value: &serde_json::Value) -> Result<Self, String> {
                match value.as_str() {
                    $(Some($word) => Ok(Self::$variant),)*
                    _ => Err(String::from(concat!("must be one of", $(" ", $word),*))),
                }
            }

            fn missing() -> Option<Self> {
                $missing
            }
        }
    };
}
pub(crate) use decode_words;

#[cfg(test)]
mod tests {
    use super::decoded;
    use crate::stage::{ClaimRequest, Facts};

    fn reason<T: super::Decode>(text: &str) -> String {
        decoded::<T>(text, "facts").err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_missing_has_its_default() {
        let facts = decoded::<Facts>(r#"{"plan":"/p","caller":{"pid":7}}"#, "facts");
        let facts = facts.unwrap_or_default();
        assert_eq!((facts.plan.as_str(), facts.caller.pid), ("/p", Some(7)));
        assert_eq!(facts.sightings, None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, wanted) in [
            ("{", "no JSON: EOF while parsing an object at line 1 column 1"),
            ("[]", "must be an object"),
            (r#"{"plan":1}"#, "plan must be a string"),
            (r#"{"caller":{"pid":-1}}"#, "caller: pid must be a whole number"),
            (r#"{"reserved":[4294967296]}"#, "reserved must be a smaller number"),
            (
                r#"{"evidence":[{"name":"a"},{"nom":"b"}]}"#,
                "evidence: unknown field `nom`, expected one of `name`, `text`",
            ),
            (r#"{"sightings":{"sessions":{}}}"#, "sightings: sessions must be a list"),
            (
                r#"{"sightings":{"processes":[{"pid_start":null}]}}"#,
                "sightings: processes: the field `pid` is missing",
            ),
        ] {
            assert_eq!(reason::<Facts>(text), format!("bad options: facts: {wanted}"));
        }
        assert_eq!(
            reason::<ClaimRequest>(r#"{"order":"best"}"#),
            "bad options: facts: order must be one of number critical-path"
        );
    }
}
