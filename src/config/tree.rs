//! YAML as it stands on the page: every node with its place, so that a mistake can be shown there.
//!
//! Nothing is expanded: anchors, aliases, tags and merge keys are mistakes, so a file cannot be larger than
//! it looks. All such mistakes are reported, not only the first.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

use super::problem::Mistake;

/// The maximum depth. No configuration needs more.
const DEEPEST: usize = 32;

pub(super) type Spot = Range<usize>;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub place: Spot,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map {
        entries: Vec<(KeySpot, Node)>,
        /// Keys that were removed because of a mistake in them.
        struck: Vec<String>,
    },
}

#[derive(Debug, Clone)]
pub(super) struct KeySpot {
    pub text: String,
    pub place: Spot,
}

impl Node {
    /// The node at a path such as `rules.2.when`.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        let inner = match &self.value {
            Value::Scalar { .. } => None,
            Value::List(items) => items.get(first.parse::<usize>().ok()?),
            Value::Map { entries, .. } => {
                entries.iter().find(|(key, _)| key.text == *first).map(|(_, node)| node)
            }
        };
        inner?.at(rest)
    }

    /// The place of the value of every key `name`, for values that must not be shown.
    pub(super) fn values_of<'a>(&'a self, name: &'a str, found: &mut Vec<Spot>) {
        match &self.value {
            Value::Scalar { .. } => {}
            Value::List(items) => items.iter().for_each(|item| item.values_of(name, found)),
            Value::Map { entries, .. } => {
                for (key, node) in entries {
                    if key.text == name {
                        found.push(key.place.start..node.place.end);
                    }
                    node.values_of(name, found);
                }
            }
        }
    }
}

/// The only document of a text. `None` if it is empty or is not YAML at all.
pub(super) fn read(text: &str, mistakes: &mut Vec<Mistake>) -> Option<Node> {
    let mut reader = Reader { events: Parser::new_from_str(text), text, mistakes, depth: 0 };
    match reader.document() {
        Ok(node) => node,
        Err(mistake) => {
            mistakes.push(mistake);
            None
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    text: &'a str,
    mistakes: &'a mut Vec<Mistake>,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Spot), Mistake> {
        loop {
            let Some(next) = self.events.next() else { return Ok((Event::StreamEnd, self.end())) };
            match next {
                Ok((Event::Comment(..), _)) => {}
                Ok((event, span)) => {
                    let start = span.start.byte_offset().unwrap_or(self.text.len());
                    let end = span.end.byte_offset().unwrap_or(start).max(start);
                    return Ok((event, start..end));
                }
                Err(error) => {
                    let at = error.marker().byte_offset().unwrap_or(self.text.len());
                    return Err(Mistake::at(at..at, format!("it is not YAML: {}", error.info())));
                }
            }
        }
    }

    fn end(&self) -> Spot {
        self.text.len()..self.text.len()
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the events of the parser grow; a node is what is left"
    )]
    fn document(&mut self) -> Result<Option<Node>, Mistake> {
        let mut root = None;
        let mut documents = 0;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(..) => {
                    documents += 1;
                    if documents == 2 {
                        return Err(Mistake::at(
                            place,
                            "a second document begins here; write one file for each",
                        ));
                    }
                }
                Event::StreamStart | Event::DocumentEnd => {}
                event => root = Some(self.node(event, place)?),
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the events of the parser grow; an event without a node is not one"
    )]
    fn node(&mut self, event: Event<'a>, place: Spot) -> Result<Node, Mistake> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.decorated(anchor, tag.is_some(), &place);
                let plain = style == ScalarStyle::Plain;
                Ok(Node { place, value: Value::Scalar { text: text.into_owned(), plain } })
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.decorated(anchor, tag.is_some(), &place);
                self.list(place)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.decorated(anchor, tag.is_some(), &place);
                self.map(place)
            }
            Event::Alias(_) => {
                self.mistakes.push(Mistake::at(place.clone(), "an alias (`*name`): write the value out"));
                Ok(Node { place, value: Value::Scalar { text: String::new(), plain: true } })
            }
            _ => Err(Mistake::at(place, "it is not YAML as a configuration is written")),
        }
    }

    fn decorated(&mut self, anchor: usize, tag: bool, place: &Spot) {
        if anchor > 0 {
            self.mistakes
                .push(Mistake::at(place.clone(), "an anchor (`&name`): write the value where it is needed"));
        }
        if tag {
            self.mistakes.push(Mistake::at(place.clone(), "a tag (`!name`): remove it"));
        }
    }

    fn deeper(&mut self, place: &Spot) -> Result<(), Mistake> {
        self.depth += 1;
        let fine = self.depth <= DEEPEST;
        if fine { Ok(()) } else { Err(Mistake::at(place.clone(), "it is nested too deeply")) }
    }

    fn list(&mut self, start: Spot) -> Result<Node, Mistake> {
        self.deeper(&start)?;
        let mut items: Vec<Node> = Vec::new();
        loop {
            let (event, place) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                self.depth -= 1;
                let end = items.last().map_or(place.end, |item| item.place.end).max(start.start);
                return Ok(Node { place: start.start..end, value: Value::List(items) });
            }
            items.push(self.node(event, place)?);
        }
    }

    fn map(&mut self, start: Spot) -> Result<Node, Mistake> {
        self.deeper(&start)?;
        let mut entries: Vec<(KeySpot, Node)> = Vec::new();
        loop {
            let (event, place) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                self.depth -= 1;
                let end = entries.last().map_or(place.end, |(_, node)| node.place.end).max(start.start);
                let value = Value::Map { entries, struck: Vec::new() };
                return Ok(Node { place: start.start..end, value });
            }
            let key = self.key(event, place)?;
            let (event, place) = self.next()?;
            let node = self.node(event, place)?;
            let Some(key) = key else { continue };
            if entries.iter().any(|(known, _)| known.text == key.text) {
                let what = format!("`{}` is here for the second time", key.text);
                self.mistakes.push(Mistake::at(key.place, what).help("keep one of the two"));
            } else {
                entries.push((key, node));
            }
        }
    }

    /// A key must be a plain word. For any other key there is a mistake and nothing to read.
    fn key(&mut self, event: Event<'a>, place: Spot) -> Result<Option<KeySpot>, Mistake> {
        let node = self.node(event, place.clone())?;
        let Value::Scalar { text, .. } = node.value else {
            return Err(Mistake::at(place, "a key must be a word"));
        };
        if text == "<<" {
            self.mistakes.push(Mistake::at(place, "a merge key (`<<`): write the values out"));
            return Ok(None);
        }
        Ok(Some(KeySpot { text, place }))
    }
}
