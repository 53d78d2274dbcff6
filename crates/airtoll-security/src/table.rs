//! The form of the tables: one entry is an enum variant, its name and its row.

/// Defines an enum, serialised by name, and the row of each variant.
///
/// Gives `ALL`, `name`, `from_name` and the private `row`. An entry without a name or with a
/// missing field does not compile.
macro_rules! table {
    (
        $(#[$about:meta])*
        pub enum $table:ident: $row:ident {
            $(
                $(#[$doc:meta])*
                $entry:ident = $name:literal { $($field:ident: $value:expr),* $(,)? }
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum $table {
            $($(#[$doc])* #[serde(rename = $name)] $entry,)+
        }

        impl $table {
            /// Every entry, in the order of the table.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$entry),+];

            /// The name used in studies, profiles and output; the same as the serialised form.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$entry => $name,)+
                }
            }

            /// The entry of that [`name`](Self::name).
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|entry| entry.name() == name)
            }

            const fn row(self) -> $row {
                match self {
                    $(Self::$entry => $row { $($field: $value),* },)+
                }
            }
        }
    };
}

pub(crate) use table;
