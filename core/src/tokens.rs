//! Tokens: what the lead and the workers of a run have used, read from Claude Code's session files.
//!
//! A session file is JSON a line and may be as large as a disk. The host gives the lines that may
//! tell of usage in batches, keeps for every message the most that was said of it (a message is
//! written again and again while it streams), and asks for the report at the end.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::decode::{decode, decode_words};

/// What a line says of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MessageUsage {
    /// The id of the message, which all its lines share.
    pub id: String,
    /// The model that wrote it.
    pub model: String,
    /// The name of the agent, where the line says it.
    pub agent: Option<String>,
    /// Tokens that were read and not in the cache.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub input: u64,
    /// Tokens that were written.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub output: u64,
    /// Tokens that were read from the cache.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_read: u64,
    /// Tokens that were put into the cache for five minutes.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_write_5m: u64,
    /// Tokens that were put into the cache for an hour.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_write_1h: u64,
}

/// The lines of a batch that tell of usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UsageBatch {
    /// What was said, in the order of the lines. A message may be in it several times.
    pub usages: Vec<MessageUsage>,
    /// How many lines could not be read.
    pub unreadable: u32,
}

/// Reads lines of a session file. Lines that tell of no usage are passed over.
pub fn read_usage(lines: &[u8]) -> UsageBatch {
    let mut batch = UsageBatch::default();
    for line in lines.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut found = Found::default();
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = Pick { found: &mut found, level: Level::Line }.deserialize(&mut json);
        if read.and_then(|()| json.end()).is_err() {
            batch.unreadable += 1;
        } else if let Some(usage) = found.usage() {
            batch.usages.push(usage);
        }
    }
    batch
}

/// The parts of a line that matter.
#[derive(Default)]
struct Found {
    kind: String,
    uuid: String,
    agent: Option<String>,
    id: String,
    model: String,
    has_usage: bool,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
}

impl Found {
    fn usage(self) -> Option<MessageUsage> {
        let id = if self.id.is_empty() { self.uuid } else { self.id };
        if self.kind != "assistant" || !self.has_usage || id.is_empty() {
            return None;
        }
        let usage = MessageUsage {
            id,
            model: self.model,
            agent: self.agent,
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write_5m: self.cache_write.saturating_sub(self.cache_write_1h),
            cache_write_1h: self.cache_write_1h,
        };
        // The client's own notices, which no model wrote.
        let is_notice = usage.model == "<synthetic>" && usage.sum() == 0;
        (!is_notice).then_some(usage)
    }
}

impl MessageUsage {
    fn sum(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// Which object of a line is read.
#[derive(Clone, Copy)]
enum Level {
    Line,
    Message,
    Usage,
    CacheCreation,
}

/// Reads the members that matter and passes over all others without keeping them: the texts of a
/// message may be megabytes.
struct Pick<'f> {
    found: &'f mut Found,
    level: Level,
}

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { found, level } = self;
        while let Some(key) = map.next_key::<String>()? {
            let inner = match (level, key.as_str()) {
                (Level::Line, "message") => Some(Level::Message),
                (Level::Message, "usage") => Some(Level::Usage),
                (Level::Usage, "cache_creation") => Some(Level::CacheCreation),
                _ => None,
            };
            if let Some(level) = inner {
                map.next_value_seed(Pick { found: &mut *found, level })?;
                continue;
            }
            let Some(place) = Place::of(level, &key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            place.put(found, &map.next_value()?);
        }
        Ok(())
    }

    // A message that is no object has no usage.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A member that is kept.
enum Place {
    Text(fn(&mut Found) -> &mut String),
    Agent,
    Count(fn(&mut Found) -> &mut u64),
}

impl Place {
    fn of(level: Level, key: &str) -> Option<Self> {
        Some(match (level, key) {
            (Level::Line, "type") => Self::Text(|found| &mut found.kind),
            (Level::Line, "uuid") => Self::Text(|found| &mut found.uuid),
            (Level::Line, "agentName") => Self::Agent,
            (Level::Message, "id") => Self::Text(|found| &mut found.id),
            (Level::Message, "model") => Self::Text(|found| &mut found.model),
            (Level::Usage, "input_tokens") => Self::Count(|found| &mut found.input),
            (Level::Usage, "output_tokens") => Self::Count(|found| &mut found.output),
            (Level::Usage, "cache_read_input_tokens") => Self::Count(|found| &mut found.cache_read),
            (Level::Usage, "cache_creation_input_tokens") => {
                Self::Count(|found| &mut found.cache_write)
            }
            (Level::CacheCreation, "ephemeral_1h_input_tokens") => {
                Self::Count(|found| &mut found.cache_write_1h)
            }
            _ => return None,
        })
    }

    fn put(&self, found: &mut Found, value: &Value) {
        match (self, value) {
            (Self::Text(place), Value::String(text)) => place(found).clone_from(text),
            (Self::Agent, Value::String(text)) => found.agent = Some(text.clone()),
            (Self::Count(place), Value::Number(number)) => {
                if let Some(count) = number.as_u64() {
                    *place(found) = count;
                    found.has_usage = true;
                }
            }
            _ => {}
        }
    }
}

/// The prices of models. They are data: a price list has a date, and okstra knows no other.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PriceTable {
    /// The day of the price list, `YYYY-MM-DD`.
    pub as_of: String,
    /// The currency.
    pub currency: String,
    /// The models.
    pub models: Vec<ModelPrice>,
}

decode!(PriceTable { as_of, currency, models });

/// What a model costs, for a million tokens each.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelPrice {
    /// The model, without the date of its release.
    pub model: String,
    /// For what is read and not in the cache.
    pub input: f64,
    /// For what is written.
    pub output: f64,
    /// For what is read from the cache.
    pub cache_read: f64,
    /// For what is put into the cache for five minutes.
    pub cache_write_5m: f64,
    /// For what is put into the cache for an hour.
    pub cache_write_1h: f64,
}

decode!(ModelPrice { model, input, output, cache_read, cache_write_5m, cache_write_1h });

impl ModelPrice {
    /// Whether a model is this one: by its name, with the day of its release or without.
    fn is_of(&self, model: &str) -> bool {
        let Some(rest) = model.strip_prefix(self.model.as_str()).filter(|_| !self.model.is_empty())
        else {
            return false;
        };
        let day = rest.strip_prefix('-').unwrap_or_default();
        rest.is_empty() || (day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Who has used tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AgentRole {
    /// The session that leads the run.
    Lead,
    /// An agent of it.
    Worker,
}

decode_words!(AgentRole { "lead" => Lead, "worker" => Worker } None);

/// What was counted of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentTally {
    /// Its name.
    pub agent: String,
    /// Who it is.
    pub role: AgentRole,
    /// Why nothing could be counted; `null` where its file was read.
    pub missing: Option<String>,
    /// What it used, by model.
    pub models: Vec<ModelTally>,
}

decode!(AgentTally { agent, role, missing, models });

/// What was counted of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelTally {
    /// The model.
    pub model: String,
    /// How many messages it wrote.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub messages: u64,
    /// See [`MessageUsage`].
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub input: u64,
    /// See [`MessageUsage`].
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub output: u64,
    /// See [`MessageUsage`].
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_read: u64,
    /// See [`MessageUsage`].
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_write_5m: u64,
    /// See [`MessageUsage`].
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_write_1h: u64,
}

decode!(ModelTally { model, messages, input, output, cache_read, cache_write_5m, cache_write_1h });

/// What to report about.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TokenRequest {
    /// The agents.
    pub agents: Vec<AgentTally>,
    /// The prices.
    pub prices: PriceTable,
}

decode!(TokenRequest { agents, prices });

/// A sum of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TokenSum {
    /// Messages.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub messages: u64,
    /// Tokens that were read and not in the cache.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub input: u64,
    /// Tokens that were written.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub output: u64,
    /// Tokens that were read from the cache.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_read: u64,
    /// Tokens that were put into the cache.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub cache_write: u64,
}

impl TokenSum {
    fn of(tally: &ModelTally) -> Self {
        Self {
            messages: tally.messages,
            input: tally.input,
            output: tally.output,
            cache_read: tally.cache_read,
            cache_write: tally.cache_write_5m.saturating_add(tally.cache_write_1h),
        }
    }

    fn add(&mut self, other: &Self) {
        for (mine, more) in [
            (&mut self.messages, other.messages),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
        ] {
            *mine = mine.saturating_add(more);
        }
    }
}

/// What a model was used for by an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelTokens {
    /// The model.
    pub model: String,
    /// Its tokens.
    pub tokens: TokenSum,
    /// What they cost; `null` where the model has no price.
    pub cost: Option<f64>,
}

/// Whether the tokens of an agent are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TokenStatus {
    /// They were counted.
    Counted,
    /// They could not be found, which is not the same as none.
    Unavailable,
}

/// What an agent used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentTokens {
    /// Its name.
    pub agent: String,
    /// Who it is.
    pub role: AgentRole,
    /// Whether its tokens are known.
    pub status: TokenStatus,
    /// Why they are not.
    pub reason: Option<String>,
    /// By model, in the order of their names.
    pub models: Vec<ModelTokens>,
    /// All models; `null` where nothing is known.
    pub tokens: Option<TokenSum>,
    /// What they cost; `null` where nothing is known or a model has no price.
    pub cost: Option<f64>,
}

/// What a run has used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TokenReport {
    /// The day of the price list.
    pub prices_as_of: String,
    /// Its currency.
    pub currency: String,
    /// The agents, in the order given.
    pub agents: Vec<AgentTokens>,
    /// All that could be counted; `null` where nothing could.
    pub tokens: Option<TokenSum>,
    /// What all of it cost; `null` where an agent is unavailable or a model has no price.
    pub cost: Option<f64>,
    /// What the part with a price cost.
    pub known_cost: f64,
    /// The agents whose tokens could not be found.
    pub unavailable: Vec<String>,
    /// The models without a price.
    pub unpriced: Vec<String>,
}

/// Sums what was counted and prices it.
pub fn token_report(request: &TokenRequest) -> TokenReport {
    let mut report = TokenReport {
        prices_as_of: request.prices.as_of.clone(),
        currency: request.prices.currency.clone(),
        agents: Vec::new(),
        tokens: None,
        cost: None,
        known_cost: 0.0,
        unavailable: Vec::new(),
        unpriced: Vec::new(),
    };
    for tally in &request.agents {
        let agent = of_agent(tally, &request.prices);
        match &agent.tokens {
            Some(tokens) => report.tokens.get_or_insert_default().add(tokens),
            None => report.unavailable.push(agent.agent.clone()),
        }
        for model in &agent.models {
            match model.cost {
                Some(cost) => report.known_cost += cost,
                None if report.unpriced.contains(&model.model) => {}
                None => report.unpriced.push(model.model.clone()),
            }
        }
        report.agents.push(agent);
    }
    report.known_cost = rounded(report.known_cost);
    let all = report.unavailable.is_empty() && report.unpriced.is_empty();
    report.cost = (all && report.tokens.is_some()).then_some(report.known_cost);
    report
}

fn of_agent(tally: &AgentTally, prices: &PriceTable) -> AgentTokens {
    let mut models: Vec<ModelTokens> = tally
        .models
        .iter()
        .map(|model| ModelTokens {
            model: model.model.clone(),
            tokens: TokenSum::of(model),
            cost: cost(model, prices).map(rounded),
        })
        .collect();
    models.sort_by(|one, other| one.model.cmp(&other.model));
    let mut tokens = None;
    for model in &models {
        tokens.get_or_insert_with(TokenSum::default).add(&model.tokens);
    }
    let reason = match (&tally.missing, tokens) {
        (Some(reason), _) => Some(reason.clone()),
        (None, None) => Some(String::from("its session file tells of no usage")),
        (None, Some(_)) => None,
    };
    let costs: Option<Vec<f64>> = models.iter().map(|model| model.cost).collect();
    AgentTokens {
        agent: tally.agent.clone(),
        role: tally.role,
        status: if tokens.is_some() { TokenStatus::Counted } else { TokenStatus::Unavailable },
        reason,
        cost: costs.filter(|costs| !costs.is_empty()).map(|costs| rounded(costs.iter().sum())),
        models,
        tokens,
    }
}

fn cost(tally: &ModelTally, prices: &PriceTable) -> Option<f64> {
    let price = prices.models.iter().find(|price| price.is_of(&tally.model))?;
    let parts = [
        (tally.input, price.input),
        (tally.output, price.output),
        (tally.cache_read, price.cache_read),
        (tally.cache_write_5m, price.cache_write_5m),
        (tally.cache_write_1h, price.cache_write_1h),
    ];
    Some(parts.iter().map(|(tokens, price)| millions(*tokens) * price).sum())
}

/// Millions of tokens.
#[expect(clippy::cast_precision_loss, reason = "exact up to nine quadrillion tokens")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

/// A price without the noise of its arithmetic.
fn rounded(price: f64) -> f64 {
    (price * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::{
        AgentRole, AgentTally, ModelPrice, ModelTally, PriceTable, TokenRequest, TokenStatus,
        read_usage, token_report,
    };

    #[test]
    fn what_matters_of_a_line_is_read() {
        let usage = |usage: &str| {
            format!(
                "{{\"content\":[{{\"usage\":{{\"input_tokens\":9}}}}],\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{{\\\"usage\\\":1}}\"}}],\"id\":\"m\",\"model\":\"claude\",\"usage\":{usage}}},\"agentName\":\"scout\"}}"
            )
        };
        for (line, wanted) in [
            (
                usage(
                    r#"{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":10,"cache_creation":{"ephemeral_1h_input_tokens":4,"ephemeral_5m_input_tokens":6},"x":[{}]}"#,
                ),
                Some([1, 2, 3, 6, 4]),
            ),
            (
                usage(r#"{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":10}"#),
                Some([1, 2, 0, 10, 0]),
            ),
            (usage(r#"{"input_tokens":"1","output_tokens":-2}"#), None),
            (usage("null"), None),
            (usage("{}"), None),
            (
                usage(r#"{"input_tokens":0,"output_tokens":0}"#)
                    .replace("\"claude\"", "\"<synthetic>\""),
                None,
            ),
            (usage(r#"{"input_tokens":1}"#).replace("assistant", "user"), None),
            (
                String::from(r#"{"type":"assistant","message":"…","usage":{"input_tokens":1}}"#),
                None,
            ),
            (String::from(r#"{"type":"assistant","message":[1],"uuid":3}"#), None),
            (String::from("7"), None),
        ] {
            let batch = read_usage(line.as_bytes());
            assert_eq!(batch.unreadable, 0, "{line}");
            let found = batch.usages.first().map(|usage| {
                assert_eq!(
                    (usage.id.as_str(), usage.model.as_str(), usage.agent.as_deref()),
                    ("m", "claude", Some("scout"))
                );
                [
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write_5m,
                    usage.cache_write_1h,
                ]
            });
            assert_eq!(found, wanted, "{line}");
        }
        let torn = read_usage(b"{\"type\":\"assistant\",\"mess\n\n\r\n\xff\n{}{}\n{}");
        assert_eq!((torn.usages.len(), torn.unreadable), (0, 3));
    }

    fn tally(model: &str, input: u64) -> ModelTally {
        ModelTally {
            model: model.to_owned(),
            messages: 1,
            input,
            output: 1_000_000,
            cache_read: 2_000_000,
            cache_write_5m: 1_000_000,
            cache_write_1h: 1_000_000,
        }
    }

    fn request(agents: Vec<(&str, Option<&str>, Vec<ModelTally>)>) -> TokenRequest {
        TokenRequest {
            agents: agents
                .into_iter()
                .map(|(agent, missing, models)| AgentTally {
                    agent: agent.to_owned(),
                    role: AgentRole::Worker,
                    missing: missing.map(str::to_owned),
                    models,
                })
                .collect(),
            prices: PriceTable {
                as_of: String::from("2026-01-01"),
                currency: String::from("USD"),
                models: vec![ModelPrice {
                    model: String::from("claude-a-4"),
                    input: 3.0,
                    output: 15.0,
                    cache_read: 0.3,
                    cache_write_5m: 3.75,
                    cache_write_1h: 6.0,
                }],
            },
        }
    }

    #[test]
    fn a_model_has_a_price_only_under_its_own_name() {
        for (model, wanted) in [
            ("claude-a-4", Some(28.35)),
            ("claude-a-4-20260101", Some(28.35)),
            ("claude-a-4-5", None),
            ("claude-a-4-5-20260101", None),
            ("claude-a-41", None),
            ("claude-a", None),
            ("", None),
        ] {
            let report =
                token_report(&request(vec![("lead", None, vec![tally(model, 1_000_000)])]));
            assert_eq!(report.cost, wanted, "{model}");
            assert_eq!(report.agents[0].cost, wanted, "{model}");
            assert_eq!(report.unpriced.len(), usize::from(wanted.is_none()), "{model}");
        }
    }

    #[test]
    fn what_is_not_found_is_unavailable_and_never_zero() {
        let report = token_report(&request(vec![
            ("lead", None, vec![tally("claude-a-4", 1_000_000), tally("b", 5)]),
            ("scout", Some("no session file"), vec![]),
            ("idle", None, vec![]),
        ]));
        let [lead, scout, idle] = report.agents.as_slice() else { panic!("three agents") };
        assert_eq!((lead.status, lead.cost), (TokenStatus::Counted, None));
        assert_eq!(
            lead.tokens.map(|sum| (sum.input, sum.cache_write)),
            Some((1_000_005, 4_000_000))
        );
        for agent in [scout, idle] {
            assert_eq!(
                (agent.status, agent.tokens, agent.cost),
                (TokenStatus::Unavailable, None, None)
            );
            assert!(agent.reason.is_some());
        }
        assert_eq!((report.cost, report.known_cost), (None, 28.35));
        assert_eq!(
            (report.unavailable, report.unpriced),
            (vec![String::from("scout"), String::from("idle")], vec![String::from("b")])
        );
        let nothing = token_report(&request(vec![("lead", Some("x"), vec![])]));
        assert_eq!((nothing.tokens, nothing.cost), (None, None));
    }
}
