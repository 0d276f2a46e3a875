//! The places at which a source file can be changed a little, and the change that can be switched on there.

use std::ops::Range;
use std::path::Path;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Signature, Stmt, Type, UnOp};

/// A small change that compiles beside what stands there.
#[derive(Debug, Clone)]
pub struct Site {
    /// File, function and change: the name of the mutant, in whatever line it stands.
    pub name: String,
    pub file: String,
    pub at: Range<usize>,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    /// The expression is replaced.
    Expression { now: String, instead: String },
    /// The statement is left out.
    LeftOut(String),
    /// The function returns this at once.
    Returns(&'static str),
}

impl Site {
    /// The text that stands there instead, with the change behind a switch.
    pub fn switched(&self, number: usize) -> String {
        match &self.change {
            Change::Expression { now, instead } => {
                format!("(if crate::is_mutant({number}) {{ {instead} }} else {{ {now} }})")
            }
            Change::LeftOut(statement) => format!("if !crate::is_mutant({number}) {{ {statement} }}"),
            Change::Returns(value) => format!("if crate::is_mutant({number}) {{ return {value}; }}\n"),
        }
    }
}

/// Every site of a file.
pub fn sites(file: &str, text: &str) -> Vec<Site> {
    let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut finder = Finder { file, text, function: String::new(), sites: Vec::new() };
    finder.visit_file(&parsed);
    let mut found = finder.sites;
    // Of two with one name, the second says so.
    for index in 0..found.len() {
        let before = found[..index].iter().filter(|site| site.name == found[index].name).count();
        if before > 0 {
            let name = format!("{}, the {}th", found[index].name, before + 1);
            found[index].name = name;
        }
    }
    found
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    function: String,
    sites: Vec<Site>,
}

/// In one line, and not longer than a line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut short: String = line.chars().take(70).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

impl Finder<'_> {
    fn text_of(&self, span: proc_macro2::Span) -> String {
        self.text[span.byte_range()].to_owned()
    }

    fn add(&mut self, at: Range<usize>, what: &str, change: Change) {
        let path = Path::new(self.file).strip_prefix("src").unwrap_or(Path::new(self.file));
        let name = format!("{} {}: {what}", path.display(), self.function);
        self.sites.push(Site { name, file: self.file.to_owned(), at, change });
    }

    fn expression(&mut self, whole: &Expr, instead: String) {
        let now = self.text_of(whole.span());
        let what = format!("{} → {}", short(&now), short(&instead));
        self.add(whole.span().byte_range(), &what, Change::Expression { now, instead });
    }

    fn function(&mut self, signature: &Signature, attributes: &[Attribute], block: &Block) -> bool {
        if is_test(attributes) || signature.constness.is_some() {
            return false;
        }
        self.function = signature.ident.to_string();
        let at = block.brace_token.span.open().byte_range().end;
        let values: &[&'static str] = match &signature.output {
            syn::ReturnType::Default => &[],
            syn::ReturnType::Type(_, kind) => values_of(kind),
        };
        for value in values {
            self.add(at..at, &format!("returns {value}"), Change::Returns(value));
        }
        true
    }
}

/// Values that a function of this type may return without looking.
fn values_of(kind: &Type) -> &'static [&'static str] {
    let Type::Path(path) = kind else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    let inner = match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(syn::GenericArgument::Type(Type::Tuple(tuple))) if tuple.elems.is_empty() => "()",
            Some(syn::GenericArgument::Type(Type::Path(path))) if path.path.is_ident("bool") => "bool",
            Some(_) | None => "other",
        },
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => "none",
    };
    match (last.ident.to_string().as_str(), inner) {
        ("bool", _) => &["true", "false"],
        ("Option", _) => &["None"],
        ("String", _) => &["String::new()"],
        ("Vec", _) => &["Vec::new()"],
        ("Result", "()" | "none") => &["Ok(())"],
        ("Result", "bool") => &["Ok(true)", "Ok(false)"],
        ("u32" | "u64" | "i64" | "usize", _) => &["0", "1"],
        (_, _) => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// What may stand in place of an operator.
fn others(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) | BinOp::Mul(_) => &["+"],
        BinOp::Div(_) | BinOp::Rem(_) => &["*"],
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if self.function(&item.sig, &item.attrs, &item.block) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if self.function(&item.sig, &item.attrs, &item.block) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    // What is computed while compiling cannot be switched.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(
            Expr::MethodCall(_)
            | Expr::Call(_)
            | Expr::Assign(_)
            | Expr::Try(_)
            | Expr::Await(_)
            | Expr::Binary(_),
            Some(_),
        ) = statement
        {
            let text = self.text_of(statement.span());
            let what = format!("without {}", short(&text));
            self.add(statement.span().byte_range(), &what, Change::LeftOut(text));
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(binary) if !has_let(expression) => {
                let (left, right) = (self.text_of(binary.left.span()), self.text_of(binary.right.span()));
                for other in others(&binary.op) {
                    self.expression(expression, format!("{left} {other} {right}"));
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let inner = self.text_of(unary.expr.span());
                self.expression(expression, inner);
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = arm.guard.as_ref().filter(|(_, guard)| !has_let(guard)) {
            self.expression(guard, "false".to_owned());
            self.expression(guard, "true".to_owned());
        }
        visit::visit_arm(self, arm);
    }
}
