//! What came of it: medians of all rounds, and ratios of those who took part in the same round.

use crate::Run;

type Figure = fn(&Run) -> f64;
const RATE: Figure = |run| run.letters_per_second;
const CPU: Figure = |run| run.cpu_ms_per_letter;

/// What is to be reached: the figure of one against that of another.
struct Target {
    what: &'static str,
    figure: Figure,
    one: &'static str,
    other: &'static str,
    to_reach: f64,
}

const TARGETS: [Target; 6] = [
    Target {
        what: "rate, times the script's",
        figure: RATE,
        one: "mailchute",
        other: "naive.sh",
        to_reach: 50.0,
    },
    Target {
        what: "CPU of the script, times that of mailchute",
        figure: CPU,
        one: "naive.sh",
        other: "mailchute",
        to_reach: 65.0,
    },
    Target {
        what: "rate, of the durable floor's",
        figure: RATE,
        one: "mailchute",
        other: "durable floor, eight at once",
        to_reach: 0.4,
    },
    Target {
        what: "the same, each call 100 ms slower",
        figure: RATE,
        one: "mailchute, each call 100 ms slower",
        other: "durable floor, each call 100 ms slower",
        to_reach: 0.95,
    },
    Target {
        what: "the same, 64 at once",
        figure: RATE,
        one: "mailchute, 64 at once, the same",
        other: "durable floor, 64 at once, the same",
        to_reach: 0.9,
    },
    Target {
        what: "the sandbox's rate, times mailchute's",
        figure: RATE,
        one: "sandbox, asked by 32",
        other: "mailchute",
        to_reach: 3.0,
    },
];

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2].midpoint(values[(values.len() - 1) / 2])
}

/// Each contestant with the medians of its figures, in the order in which they began.
pub fn medians(runs: &[Run]) -> Vec<Run> {
    let first = runs.iter().filter(|run| run.round == 0);
    let of =
        |who: &str, figure: Figure| median(runs.iter().filter(|run| run.who == who).map(figure).collect());
    let medians = first.map(|run| Run {
        seconds: of(run.who, |run| run.seconds),
        letters_per_second: of(run.who, RATE),
        cpu_ms_per_letter: of(run.who, CPU),
        ..run.clone()
    });
    medians.collect()
}

pub fn table(medians: &[Run], runs: &[Run]) {
    println!("| median | rounds | letters | letters/s | CPU ms a letter |\n|---|---|---|---|---|");
    for Run { who, letters, letters_per_second, cpu_ms_per_letter, .. } in medians {
        let rounds = runs.iter().filter(|run| run.who == *who).count();
        println!("| {who} | {rounds} | {letters} | {letters_per_second:.1} | {cpu_ms_per_letter:.2} |");
    }
}

pub fn ratios(runs: &[Run]) {
    for Target { what, figure, one, other, to_reach } in TARGETS {
        let mut found: Vec<f64> = Vec::new();
        for run in runs.iter().filter(|run| run.who == one) {
            let other = runs.iter().find(|beside| beside.who == other && beside.round == run.round);
            found.extend(other.map(|other| figure(run) / figure(other)));
        }
        if found.is_empty() {
            continue;
        }
        let all: Vec<String> = found.iter().map(|ratio| format!("{ratio:.2}")).collect();
        let median = median(found);
        let verdict = if median >= to_reach { "reached" } else { "NOT REACHED" };
        println!("{what}: {median:.2} (rounds: {}), to reach {to_reach}: {verdict}", all.join(", "));
    }
}
