//! The format of calls on a folder and of their answers, between this program and its helper. Both ends are
//! the same binary, so the format may change. Names are bytes, because file names need not be text.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::opened::FolderFacts;
use super::{Content, Keeper, MoveWithText, SeenEntry, Stat};
use crate::domain::drop::Kind;

/// A value that can be sent. Borrowed values point into the received message.
pub(super) trait Wire<'a>: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut &'a [u8]) -> io::Result<Self>;
}

pub(super) fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message between mailchute and its helper is malformed")
}

fn split<'a>(from: &mut &'a [u8], length: usize) -> io::Result<&'a [u8]> {
    let (bytes, rest) = from.split_at_checked(length).ok_or_else(malformed)?;
    *from = rest;
    Ok(bytes)
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Wire<'_> for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> io::Result<Self> {
                let bytes = split(from, size_of::<Self>())?;
                Ok(Self::from_le_bytes(bytes.try_into().map_err(|_| malformed())?))
            }
        }
    )* };
}
numbers!(u8, u32, i32, u64, i64);

/// A structure, by its fields.
macro_rules! fields {
    ($name:ident { $($field:ident),* }) => {
        impl Wire<'_> for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $( self.$field.put(out); )*
            }
            fn take(from: &mut &[u8]) -> io::Result<Self> {
                Ok(Self { $( $field: Wire::take(from)? ),* })
            }
        }
    };
}
fields!(Stat { inode, mode, links, owner, size, modified, changed });
fields!(SeenEntry { name, stat, readable });
fields!(Keeper { records, run, state, daemon, holder });
fields!(FolderFacts { remote, is_locked, opened_at });

impl Wire<'_> for () {
    fn put(&self, _: &mut Vec<u8>) {}
    fn take(_: &mut &[u8]) -> io::Result<Self> {
        Ok(())
    }
}

impl Wire<'_> for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        Ok(u8::take(from)? != 0)
    }
}

impl<'a> Wire<'a> for &'a [u8] {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self);
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        let length = u64::take(from)?;
        split(from, usize::try_from(length).map_err(|_| malformed())?)
    }
}

impl<'a> Wire<'a> for &'a str {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_bytes().put(out);
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        std::str::from_utf8(Wire::take(from)?).map_err(|_| malformed())
    }
}

impl<'a> Wire<'a> for &'a Path {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_os_str().as_bytes().put(out);
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        Ok(Path::new(OsStr::from_bytes(Wire::take(from)?)))
    }
}

impl Wire<'_> for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_str().put(out);
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        <&str>::take(from).map(str::to_owned)
    }
}

impl Wire<'_> for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_path().put(out);
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        Ok(OsString::from_vec(<&[u8]>::take(from)?.to_vec()).into())
    }
}

impl Wire<'_> for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_slice().put(out);
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        <&[u8]>::take(from).map(<[u8]>::to_vec)
    }
}

/// Several values of one type, one after another.
pub(super) fn put_all<'a>(list: &[impl Wire<'a>], out: &mut Vec<u8>) {
    (list.len() as u64).put(out);
    for item in list {
        item.put(out);
    }
}

pub(super) fn take_all<'a, T: Wire<'a>>(from: &mut &'a [u8]) -> io::Result<Vec<T>> {
    let length = u64::take(from)?;
    (0..length).map(|_| T::take(from)).collect()
}

macro_rules! lists {
    ($($item:ty),*) => { $(
        impl Wire<'_> for Vec<$item> {
            fn put(&self, out: &mut Vec<u8>) {
                put_all(self, out);
            }
            fn take(from: &mut &[u8]) -> io::Result<Self> {
                take_all(from)
            }
        }
    )* };
}
lists!(String, SeenEntry, io::Result<()>);

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        Ok(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<'a, T: Wire<'a>, U: Wire<'a>> Wire<'a> for (T, U) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        Ok((T::take(from)?, U::take(from)?))
    }
}

impl<'a, T: Wire<'a>, E: Wire<'a>> Wire<'a> for Result<T, E> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_ok().put(out);
        match self {
            Ok(value) => value.put(out),
            Err(error) => error.put(out),
        }
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        Ok(if bool::take(from)? { Ok(T::take(from)?) } else { Err(E::take(from)?) })
    }
}

impl<'a> Wire<'a> for MoveWithText<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.from, self.to).put(out);
        self.text.put(out);
    }
    fn take(from: &mut &'a [u8]) -> io::Result<Self> {
        let ((from_path, to), text) = Wire::take(from)?;
        Ok(Self { from: from_path, to, text })
    }
}

/// Kinds of errors that have no error number of the system, but on which decisions depend.
const KINDS: [io::ErrorKind; 7] = [
    io::ErrorKind::NotFound,
    io::ErrorKind::PermissionDenied,
    io::ErrorKind::AlreadyExists,
    io::ErrorKind::NotADirectory,
    io::ErrorKind::StorageFull,
    io::ErrorKind::TimedOut,
    io::ErrorKind::ConnectionAborted,
];

impl Wire<'_> for io::Error {
    fn put(&self, out: &mut Vec<u8>) {
        self.raw_os_error().put(out);
        let kind = KINDS.iter().position(|kind| *kind == self.kind()).unwrap_or(KINDS.len());
        (kind as u64).put(out);
        self.to_string().put(out);
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        let number: Option<i32> = Wire::take(from)?;
        let (kind, text): (u64, String) = Wire::take(from)?;
        let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind));
        Ok(match number {
            Some(number) => Self::from_raw_os_error(number),
            None => Self::new(kind.copied().unwrap_or(io::ErrorKind::Other), text),
        })
    }
}

/// A variant by its number, with its data.
pub(super) fn tagged<'a>(tag: u8, value: &impl Wire<'a>, out: &mut Vec<u8>) {
    tag.put(out);
    value.put(out);
}

const FILE_KINDS: [Kind; 5] = [Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::Socket, Kind::Device];

impl Wire<'_> for Content {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Whole { bytes, stat } => {
                tagged(0, bytes, out);
                stat.put(out);
            }
            Self::TooLarge(size) => tagged(1, size, out),
            Self::NotAFile(kind) => {
                let kind = FILE_KINDS.iter().position(|known| known == kind).unwrap_or_default();
                tagged(2, &(kind as u64), out);
            }
            Self::Linked => tagged(3, &(), out),
            Self::NoRight => tagged(4, &(), out),
            Self::Changing => tagged(5, &(), out),
        }
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        Ok(match u8::take(from)? {
            0 => Self::Whole { bytes: Wire::take(from)?, stat: Wire::take(from)? },
            1 => Self::TooLarge(Wire::take(from)?),
            2 => {
                let kind = usize::try_from(u64::take(from)?).ok().and_then(|kind| FILE_KINDS.get(kind));
                Self::NotAFile(*kind.ok_or_else(malformed)?)
            }
            3 => Self::Linked,
            4 => Self::NoRight,
            5 => Self::Changing,
            _ => return Err(malformed()),
        })
    }
}
