//! The pages of a PDF, walked from its catalog.

use std::collections::BTreeSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

/// The pages in their order. `None` if the tree names something twice, or something that does not exist or is
/// neither a page nor a node. Programs differ in how they read such a tree.
pub(super) fn pages(pdf: &Document) -> Option<Vec<ObjectId>> {
    let root = pdf.catalog().ok()?.get(b"Pages").ok()?.as_reference().ok()?;
    let (mut seen, mut pages, mut open) = (BTreeSet::from([root]), Vec::new(), vec![root]);
    while let Some(node) = open.pop() {
        let node_dict = pdf.get_dictionary(node).ok()?;
        if node != root && is_page(node_dict) {
            pages.push(node);
            continue;
        }
        let kids = node_dict.get_deref(b"Kids", pdf).and_then(Object::as_array).ok()?;
        // The last one pushed is taken first.
        for kid in kids.iter().rev() {
            let kid = kid.as_reference().ok()?;
            if !seen.insert(kid) {
                return None;
            }
            open.push(kid);
        }
    }
    Some(pages)
}

fn is_page(node: &Dictionary) -> bool {
    node.get_type().map_or_else(|_| !node.has(b"Kids"), |kind| kind == b"Page")
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;
    use crate::domain::drop::Doubt;
    use crate::outside::pdf::{Inspection, judge};

    /// A tree whose nodes have these kids. A node without kids is a page. The first node is the root.
    fn document(nodes: &[&[usize]], count: i64) -> Vec<u8> {
        let mut pdf = Document::with_version("1.4");
        let ids: Vec<ObjectId> = nodes.iter().map(|_| pdf.new_object_id()).collect();
        for (node, kids) in nodes.iter().enumerate() {
            let kind = if kids.is_empty() { "Page" } else { "Pages" };
            let mut dict = dictionary! { "Type" => kind };
            if !kids.is_empty() {
                dict.set("Kids", kids.iter().map(|kid| ids[*kid].into()).collect::<Vec<Object>>());
                dict.set("Count", if node == 0 { count } else { 1 });
            }
            pdf.objects.insert(ids[node], dict.into());
        }
        let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => ids[0] });
        pdf.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_kid_that_is_named_twice_is_no_second_page_and_no_endless_walk() {
        assert_eq!(judge(&document(&[&[1, 2], &[], &[3], &[]], 2)), Inspection::Pages(2));
        for (nodes, count) in [
            (&[&[1, 1][..], &[]][..], 2),
            (&[&[1, 1], &[]], 1),
            (&[&[1, 2], &[3], &[3], &[]], 2),
            (&[&[1, 0], &[]], 1),
        ] {
            assert_eq!(judge(&document(nodes, count)), Inspection::Doubt(Doubt::Pages), "{nodes:?}");
        }
        // Each level names the next one twice: 2^60 pages without a visited set.
        let levels: Vec<Vec<usize>> = (1..=60).map(|next| vec![next, next]).chain([vec![]]).collect();
        let levels: Vec<&[usize]> = levels.iter().map(Vec::as_slice).collect();
        assert_eq!(judge(&document(&levels, 2)), Inspection::Doubt(Doubt::Pages));
    }
}
