//! Judges whether a new password is easy to guess: it is common, or close to what is known about the person.

use zxcvbn::zxcvbn;

use crate::domain::fold::fold;

/// A password that needs fewer guesses is refused: the million most likely ones are tried first, wherever accounts are
/// attacked. With the back-off, more than that takes years for one account.
const FEWEST_GUESSES: u64 = 1_000_000;
/// The characters that are judged; the cost grows with more than their square. A password that is good so far stays good.
const JUDGED_CHARS: usize = 100;
/// The words about a person that are compared, and the characters of each: they bound the cost, too.
const MOST_WORDS: usize = 40;
const WORD_CHARS: usize = 40;
/// A shorter word is in too many good passwords.
const FEWEST_CHARS: usize = 3;
/// Common passwords and parts of them in Portuguese and Spanish, which the estimate's own lists do not have.
const COMMON: &[&str] = &[
    "senha",
    "minhasenha",
    "mudar",
    "acesso",
    "entrar",
    "teste",
    "brasil",
    "familia",
    "felicidade",
    "amor",
    "meuamor",
    "tevejo",
    "teamo",
    "deusefiel",
    "jesuscristo",
    "flamengo",
    "corinthians",
    "palmeiras",
    "saopaulo",
    "princesa",
    "empresa",
    "bemvindo",
    "segredo",
    "contraseña",
    "contrasena",
    "miclave",
    "clave",
    "acceso",
    "prueba",
    "bienvenido",
    "hola",
    "tequiero",
    "miamor",
    "estrella",
    "secreto",
    "españa",
    "espana",
    "mexico",
    "argentina",
    "colombia",
    "barcelona",
    "realmadrid",
    "whatsapp",
    "pombo",
];

/// What is known about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About(Vec<String>);

impl About {
    /// The words of the e-mail address, the name and the names of the companies.
    pub(super) fn new(email: &str, name: &str, companies: impl IntoIterator<Item = String>) -> Self {
        let companies: Vec<_> = companies.into_iter().collect();
        let texts = [email, name].into_iter().chain(companies.iter().map(String::as_str));
        let words = texts.flat_map(|text| {
            let parts = text.split(|c: char| !c.is_alphanumeric());
            // The text as it is, without its spaces, and each word of it.
            let joined: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            std::iter::once(joined).chain(parts.map(str::to_owned))
        });
        let mut known = Vec::new();
        for word in words.filter(|word| word.chars().count() >= FEWEST_CHARS) {
            let word: String = word.chars().take(WORD_CHARS).collect();
            // With its accents and without.
            for word in [word.to_lowercase(), fold(&word)] {
                if known.len() < MOST_WORDS && !known.contains(&word) {
                    known.push(word);
                }
            }
        }
        Self(known)
    }
}

/// Whether an attacker who knows this about the person guesses the password early.
pub(super) fn is_common(password: &str, about: &About) -> bool {
    let judged: String = password.chars().take(JUDGED_CHARS).collect();
    let own = about.0.iter().map(String::as_str);
    let known: Vec<_> = own.chain(COMMON.iter().copied()).collect();
    zxcvbn(&judged, &known).guesses() < FEWEST_GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_common_for_ana(password: &str) -> bool {
        let companies = ["Padaria São João".to_owned()];
        is_common(password, &About::new("ana.souza@padaria.example", "Ana Cristina Souza", companies))
    }

    #[test]
    fn common_passwords_and_those_about_the_person_are_easy_to_guess() {
        for password in [
            "password",
            "Passw0rd",
            "12345678",
            "123456789",
            "qwertyui",
            "iloveyou1",
            "abcd1234",
            "aaaaaaaa",
            "senha123",
            "Senha@123",
            "mudar123",
            "contraseña1",
            "flamengo10",
            "pombo123",
            "11111111",
            "20111985",
            "anasouza",
            "ana.souza1",
            "cristina1",
            "Padaria2024",
            "padaria.example",
            "SãoJoão1",
            "PadariaSãoJoão",
            "saojoao1",
        ] {
            assert!(is_common_for_ana(password), "{password}");
        }
    }

    #[test]
    fn sentences_and_random_passwords_are_not() {
        for password in [
            "correct horse battery",
            "another password",
            "a new password",
            "o pão sai às sete",
            "mi perro come tarde",
            "xK9#mP2$vL",
            "tr5-8Qz!w",
            "密码很长很难猜到的吧",
            "padaria com cheiro de lenha",
        ] {
            assert!(!is_common_for_ana(password), "{password}");
        }
    }

    #[test]
    fn the_cost_is_bounded_for_the_longest_input() {
        let long = "aB3$".repeat(64);
        let about = About::new(&"ab.".repeat(80), &"na ".repeat(200), vec!["co ".repeat(500); 10]);
        assert!(
            about.0.len() <= MOST_WORDS && about.0.iter().all(|word| word.chars().count() <= 2 * WORD_CHARS)
        );
        // The characters after the judged ones change nothing.
        let judged: String = long.chars().take(JUDGED_CHARS).collect();
        assert_eq!(is_common(&long, &about), is_common(&judged, &about));
        assert!(is_common(&"a".repeat(256), &about), "repetition is easy to guess however long it is");
    }
}
