//! Fields of forms: a label, the control with the submitted value, a hint, and the fault beside it.

use maud::{Markup, html};
use uuid::Uuid;

use super::notice::{self, focused};
use crate::console::form::Form;

/// The properties of a field, except its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    form: &'a Form,
    name: &'a str,
    label: &'a str,
    hint: Option<&'a str>,
    is_required: bool,
    autocomplete: Option<&'a str>,
    most: Option<usize>,
    scope: &'a str,
}

impl<'a> Field<'a> {
    /// The field of this name; the label is its accessible name.
    pub(crate) const fn new(form: &'a Form, name: &'a str, label: &'a str) -> Self {
        Self {
            form,
            name,
            label,
            hint: None,
            is_required: false,
            autocomplete: None,
            most: None,
            scope: "field",
        }
    }

    /// A sentence below the label.
    pub(crate) const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Makes the field required.
    pub(crate) const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// The value that a browser may fill in.
    pub(crate) const fn autocomplete(mut self, autocomplete: &'a str) -> Self {
        self.autocomplete = Some(autocomplete);
        self
    }

    /// At most this many characters.
    pub(crate) const fn most(mut self, most: usize) -> Self {
        self.most = Some(most);
        self
    }

    /// Makes its ids different from those of a field with the same name in another form of the page.
    pub(crate) const fn within(mut self, scope: &'a str) -> Self {
        self.scope = scope;
        self
    }

    /// A line of text.
    pub(crate) fn text(self) -> Markup {
        self.input("text")
    }

    /// A line of another kind: `email`, `search`, `tel`, `url`, `number`, `date`, `datetime-local`.
    pub(crate) fn input(self, kind: &str) -> Markup {
        let spelled = (kind == "email").then_some("off");
        self.around(&html! {
            input id=(self.id()) type=(kind) name=(self.name) value=(self.form.value(self.name)) required[self.is_required]
                maxlength=[self.most] autocomplete=[self.autocomplete] autocapitalize=[spelled] autofocus[self.is_faulty()]
                aria-describedby=[self.described()] aria-invalid=[self.invalid()];
        })
    }

    /// A whole number within these bounds.
    pub(crate) fn whole(self, least: u64, most: u64) -> Markup {
        self.around(&html! {
            input id=(self.id()) type="number" min=(least) max=(most) step="1" name=(self.name) value=(self.form.value(self.name))
                required[self.is_required] autofocus[self.is_faulty()] aria-describedby=[self.described()]
                aria-invalid=[self.invalid()];
        })
    }

    /// A number, which may have decimals.
    pub(crate) fn decimal(self) -> Markup {
        self.around(&html! {
            input id=(self.id()) type="number" step="any" name=(self.name) value=(self.form.value(self.name))
                required[self.is_required] autofocus[self.is_faulty()] aria-describedby=[self.described()]
                aria-invalid=[self.invalid()];
        })
    }

    /// A password, which is never shown again.
    pub(crate) fn password(self) -> Markup {
        self.around(&html! {
            input id=(self.id()) type="password" name=(self.name) required[self.is_required]
                autocomplete=[self.autocomplete] autofocus[self.is_faulty()] aria-describedby=[self.described()]
                aria-invalid=[self.invalid()];
        })
    }

    /// A code of digits, from a phone or a list.
    pub(crate) fn code(self) -> Markup {
        self.around(&html! {
            input.code id=(self.id()) type="text" name=(self.name) required[self.is_required] inputmode="text"
                autocomplete="one-time-code" autocapitalize="off" spellcheck="false" maxlength="32" autofocus[self.is_faulty()]
                aria-describedby=[self.described()] aria-invalid=[self.invalid()];
        })
    }

    /// Several lines.
    pub(crate) fn area(self, rows: usize) -> Markup {
        self.around(&html! {
            textarea id=(self.id()) name=(self.name) rows=(rows) dir="auto" required[self.is_required] maxlength=[self.most]
                autofocus[self.is_faulty()] aria-describedby=[self.described()] aria-invalid=[self.invalid()] { "\n" (self.form.value(self.name)) }
        })
    }

    /// A line of text, with values to choose from.
    pub(crate) fn suggesting<V: AsRef<str>>(self, values: impl IntoIterator<Item = V>) -> Markup {
        let list = self.part("list");
        self.around(&html! {
            input id=(self.id()) type="text" name=(self.name) value=(self.form.value(self.name)) required[self.is_required]
                maxlength=[self.most] autocomplete="off" list=(list) autofocus[self.is_faulty()]
                aria-describedby=[self.described()] aria-invalid=[self.invalid()];
            datalist id=(list) { @for value in values { option value=(value.as_ref()) {} } }
        })
    }

    /// A file of one of these types.
    pub(crate) fn file(self, accepted: &str) -> Markup {
        self.around(&html! {
            input id=(self.id()) type="file" name=(self.name) accept=(accepted) required[self.is_required]
                autofocus[self.is_faulty()] aria-describedby=[self.described()] aria-invalid=[self.invalid()];
        })
    }

    /// One of several values, each with its label.
    pub(crate) fn select<V: AsRef<str>, W: AsRef<str>>(
        self,
        options: impl IntoIterator<Item = (V, W)>,
    ) -> Markup {
        let current = self.form.value(self.name);
        self.around(&html! {
            select id=(self.id()) name=(self.name) required[self.is_required] autofocus[self.is_faulty()]
                aria-describedby=[self.described()] aria-invalid=[self.invalid()] {
                @for (value, words) in options {
                    option value=(value.as_ref()) selected[value.as_ref() == current] { (words.as_ref()) }
                }
            }
        })
    }

    /// Several checkboxes under one label.
    pub(crate) fn boxes<V: AsRef<str>, W: AsRef<str>>(
        self,
        options: impl IntoIterator<Item = (V, W)>,
    ) -> Markup {
        self.group("checkbox", options)
    }

    /// Several radio buttons under one label.
    pub(crate) fn radios<V: AsRef<str>, W: AsRef<str>>(
        self,
        options: impl IntoIterator<Item = (V, W)>,
    ) -> Markup {
        self.group("radio", options)
    }

    fn group<V: AsRef<str>, W: AsRef<str>>(
        self,
        kind: &str,
        options: impl IntoIterator<Item = (V, W)>,
    ) -> Markup {
        html! {
            fieldset.field id=(self.id()) aria-describedby=[self.described()] aria-invalid=[self.invalid()] {
                legend { (self.label) }
                @if let Some(hint) = self.hint { p.hint id=(self.part("hint")) { (hint) } }
                @for (index, (value, words)) in options.into_iter().enumerate() {
                    label.choice {
                        input type=(kind) name=(self.name) value=(value.as_ref())
                            checked[self.form.is_ticked(self.name, value.as_ref())] autofocus[index == 0 && self.is_faulty()];
                        span { (words.as_ref()) }
                    }
                }
                (self.fault())
            }
        }
    }

    /// Label, hint and fault around a control that has this field's [`Field::id`].
    pub(crate) fn around(self, control: &Markup) -> Markup {
        html! {
            div.field {
                label for=(self.id()) { (self.label) }
                @if let Some(hint) = self.hint { p.hint id=(self.part("hint")) { (hint) } }
                (control)
                (self.fault())
            }
        }
    }

    /// The control's id in the page.
    pub(crate) fn id(self) -> String {
        format!("{}-{}", self.scope, self.name)
    }

    fn part(self, part: &str) -> String {
        format!("{}-{}-{part}", self.scope, self.name)
    }

    fn fault(self) -> Markup {
        html! {
            @if let Some(fault) = self.form.fault_of(self.name) { p.fault id=(self.part("fault")) { (fault) } }
        }
    }

    fn described(self) -> Option<String> {
        let hint = self.hint.map(|_| self.part("hint"));
        let fault = self.form.fault_of(self.name).map(|_| self.part("fault"));
        match (hint, fault) {
            (Some(hint), Some(fault)) => Some(format!("{hint} {fault}")),
            (one, other) => one.or(other),
        }
    }

    fn invalid(self) -> Option<&'static str> {
        self.is_faulty().then_some("true")
    }

    /// Whether the field has a fault. Then it asks for the focus, which the first of several gets, also without script.
    fn is_faulty(self) -> bool {
        self.form.fault_of(self.name).is_some()
    }
}

/// The hidden id by which a form acts only once. It stays the same when the form is shown again with its
/// faults. A browser that reloads the page must not put the old id into the new form.
pub(crate) fn once(form: &Form) -> Markup {
    let id = form.once().unwrap_or_else(Uuid::now_v7);
    html! { input type="hidden" name="once" value=(id) autocomplete="off"; }
}

/// The fault of the form as a whole, or a sentence that some field has one. Without a field to go to, the sentence has the
/// focus.
pub(crate) fn faults(form: &Form) -> Markup {
    html! {
        @if let Some(fault) = form.fault_of("") {
            (focused(fault))
        } @else if form.has_faults() {
            (notice::fault(&form.text().get("fault-fields")))
        }
    }
}
