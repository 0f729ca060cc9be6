import { describe, expect, it } from 'vitest';
import { decideRule, makePolicy, type PolicyFacts, type RuleValues } from './policy.ts';
import { DEFAULT_POLICY } from './policy-default.ts';
import { PolicyError } from './policy-error.ts';
import { readFacts, type WrittenFacts } from './policy-facts.ts';
import { parsePolicy } from './policy-toml.ts';

const DAY = 86_400_000;
const DEFAULTS: RuleValues = {
  window: 90 * DAY,
  outsideWindow: 'deliver',
  staleTimestamp: 'review',
  onConflict: 'reject',
  interchangeKey: 'reference+sender',
  onInterchangeConflict: 'review',
  replacePending: false,
  afterPowerLoss: 'deliver',
};
const parse = (toml: string, defaults = DEFAULTS) => parsePolicy(toml, 'p.toml', defaults);
const FACTS: PolicyFacts = readFacts({
  senderAp: 'POP000001',
  originalSender: 'iso6523-actorid-upis::0088:Acme',
  finalRecipient: '0088:buyer',
  process: 'urn:billing:1',
  documentType: 'urn:ubl:Invoice-2::Invoice##urn:cen::2.1',
  payloadKind: 'xml',
});
const ruleOf = (toml: string, facts: Partial<PolicyFacts> = {}) => decideRule(parse(toml), { ...FACTS, ...facts }).rule;

function problemsOf(toml: string): readonly string[] {
  try {
    parse(toml);
  } catch (error) {
    expect(error).toBeInstanceOf(PolicyError);
    return (error as PolicyError).problems;
  }
  throw new Error('the policy was accepted');
}

describe('which rule applies', () => {
  it('is the first that matches, in the order of the file', () => {
    const toml =
      '[[rule]]\nname="a"\nsenderAp="POP000002"\n[[rule]]\nname="b"\nsenderAp="POP*"\n[[rule]]\nname="c"\nsenderAp="POP000001"';
    expect(ruleOf(toml)).toBe('b');
    expect(ruleOf(toml, { senderAp: 'POP000002' })).toBe('a');
    expect(ruleOf(toml, { senderAp: 'PAP000001' })).toBe('[duplicates]');
  });

  it('is one of which every condition holds', () => {
    const toml = '[[rule]]\nname="a"\nsenderAp="POP000001"\npayloadKind="edifact"\n[[rule]]\nname="b"';
    expect(ruleOf(toml)).toBe('b');
    expect(ruleOf(toml, { payloadKind: 'edifact' })).toBe('a');
  });

  it('may be one of several patterns of a list', () => {
    const toml = '[[rule]]\nname="a"\npayloadKind=["x12","edifact"]';
    expect(ruleOf(toml, { payloadKind: 'x12' })).toBe('a');
    expect(ruleOf(toml)).toBe('[duplicates]');
  });

  it.each([
    ['originalSender', 'iso6523-actorid-upis::0088:acme', true],
    ['originalSender', '0088:ACME', true],
    ['originalSender', '*:acme', true],
    ['originalSender', '0088:acm', false],
    ['finalRecipient', 'ISO6523-ACTORID-UPIS::0088:BUYER', true],
    ['senderAp', 'pop000001', false],
    ['process', 'cenbii-procid-ubl::urn:billing:*', true],
    ['process', 'URN:billing:1', false],
    ['documentType', 'busdox-docid-qns::*::Invoice##*', true],
    ['documentType', '*::Invoice##*', true],
    ['documentType', 'urn:ubl:Invoice-2::Invoice##urn:cen::2.1', true],
    ['documentType', '*::invoice##*', false],
    ['documentType', '*', true],
  ])('compares %s with %s: %s', (key, pattern, expected) => {
    expect(ruleOf(`[[rule]]\nname="a"\n${key}=${JSON.stringify(pattern)}`)).toBe(expected ? 'a' : '[duplicates]');
  });

  it('asks a message only for what it has, but * asks nothing', () => {
    const ping = { documentType: null, payloadKind: null };
    expect(ruleOf('[[rule]]\nname="a"\ndocumentType="*Invoice*"', ping)).toBe('[duplicates]');
    expect(ruleOf('[[rule]]\nname="a"\ndocumentType="*"\npayloadKind="*"', ping)).toBe('a');
  });
});

describe('what a rule gives', () => {
  it('is completed from [duplicates]', () => {
    const policy = parse('[[rule]]\nwindow="365d"\nonConflict="hold"\nreplacePending=true', {
      ...DEFAULTS,
      staleTimestamp: 'refuse',
    });
    expect(decideRule(policy, FACTS).values).toEqual({
      ...DEFAULTS,
      staleTimestamp: 'refuse',
      window: 365 * DAY,
      onConflict: 'hold',
      replacePending: true,
    });
  });

  it('is [duplicates] itself when there are no rules', () => {
    expect(decideRule(makePolicy('none', [], DEFAULTS), FACTS)).toMatchObject({
      rule: '[duplicates]',
      index: null,
      values: DEFAULTS,
    });
  });

  it.each([
    ['checkwindow=90D', 90 * DAY],
    ['checkwindow=90d; maxsize=10Mb', 90 * DAY],
    ['maxsize=10Mb,CheckWindow=960H', 40 * DAY],
    ['2160h', 90 * DAY],
  ])('understands the window %s', (window, expected) => {
    expect(decideRule(parse(`[[rule]]\nwindow="${window}"`), FACTS).values.window).toBe(expected);
  });

  it('says of maxsize that it is not applied', () => {
    expect(parse('[[rule]]\nname="a"\nwindow="checkwindow=90D,maxsize=10Mb"').notes).toEqual([
      'p.toml: rule 1 "a": maxsize=10Mb is read and not applied: the log is bounded by time, not by size.',
    ]);
  });

  it('has a window below 30 days only where the rule allows it', () => {
    expect(problemsOf('[[rule]]\nwindow="checkwindow=7D"')[0]).toContain('allowShortWindow = true');
    const allowed = parse('[[rule]]\nwindow="checkwindow=7D"\nallowShortWindow=true');
    expect(decideRule(allowed, FACTS).values.window).toBe(7 * DAY);
  });
});

it('tells of rules that can never apply', () => {
  expect(parse('[[rule]]\nname="all"\n[[rule]]\nname="never"\nsenderAp="x"').notes).toEqual([
    'p.toml: rule 2 "never" never applies: rule 1 "all" before it has no conditions.',
  ]);
});

it('tells everything that is wrong at once, each with the rule and what it should be', () => {
  const toml = `
[[rules]]
[[rule]]
name = "first"
windw = "90d"
window = "soon"
staleTimestamp = "drop"
replacePending = "yes"
senderAp = []
payloadKind = "edifcat"
[[rule]]
name = "first"
window = "checkwindow=7M,color=red"
allowShortWindow = 1
process = 3
[[rule]]
window = "maxsize=3"
`;
  expect(problemsOf(toml)).toMatchInlineSnapshot(`
    [
      "p.toml: rules is not a key of a policy; did you mean rule?",
      "p.toml: rule 1 "first": windw is not a key of a rule; did you mean window?",
      "p.toml: rule 1 "first": senderAp must be a pattern in quotes or a list of such, not [].",
      "p.toml: rule 1 "first": payloadKind "edifcat" is unknown; did you mean edifact?",
      "p.toml: rule 1 "first": window must be a duration such as "90d" or "checkwindow=90D", not "soon".",
      "p.toml: rule 1 "first": staleTimestamp must be "review", "deliver" or "refuse", not "drop".",
      "p.toml: rule 1 "first": replacePending must be true or false, not "yes".",
      "p.toml: rule 2 "first": process must be a pattern in quotes or a list of such, not 3.",
      "p.toml: rule 2 "first": checkwindow must be a duration such as "7D" or "12H", not "7M".",
      "p.toml: rule 2 "first": window has the parameter "color"; AS4 knows checkwindow and maxsize.",
      "p.toml: rule 2 "first": allowShortWindow must be true or false, not 1.",
      "p.toml: rule 3: window is "maxsize=3", which has no checkwindow.",
      "p.toml: two rules are named "first"; rename rule 2.",
    ]
  `);
});

it('refuses a file without rules, and one that writes them as something else', () => {
  expect(problemsOf('# nothing')).toEqual(['p.toml: it has no rules; write [[rule]] tables.']);
  for (const toml of ['rule = 3', '[rule]\nwindow = "90d"', 'rule = [2026-11-30]']) {
    expect(problemsOf(toml)).toEqual(['p.toml: rules are written as [[rule]] tables.']);
  }
});

it('tells where TOML is broken', () => {
  expect(problemsOf('[[rule]]\nname = = 1')).toEqual([
    expect.stringMatching(/^p\.toml, line 2, column \d+: not valid TOML/),
  ]);
});

describe('the version', () => {
  const version = (toml: string, defaults = DEFAULTS) => parse(toml, defaults).version;
  const one = '[[rule]]\nname="a"\nsenderAp="X"\nprocess="p"\nwindow="90d"\nonConflict="hold"\n';

  it('is 16 hex digits', () => {
    expect(version(one)).toMatch(/^[0-9a-f]{16}$/);
  });

  it('does not depend on comments, key order and spelling', () => {
    const other =
      '# comment\n[[rule]]\nonConflict = "hold"\nwindow = "checkwindow=2160H"\nprocess = ["p"]\nname = "a"\nsenderAp = "X"\n';
    expect(version(other)).toBe(version(one));
    const { window, ...rest } = DEFAULTS;
    expect(version(one, { ...rest, window })).toBe(version(one));
    expect(version('[[rule]]\noriginalSender="0088:A"')).toBe(version('[[rule]]\noriginalSender="0088:a"'));
  });

  it('depends on every value, on the defaults and on the order of rules', () => {
    const two = '[[rule]]\nname="b"\n';
    const texts = [
      one,
      one.replace('hold', 'reject'),
      one.replace('"X"', '"Y"'),
      one.replace('90d', '91d'),
      one + two,
      two + one,
    ];
    const versions = [...texts.map((t) => version(t)), version(one, { ...DEFAULTS, window: 1 })];
    expect(new Set(versions).size).toBe(versions.length);
  });
});

describe('why', () => {
  const toml = `
[[rule]]
name = "a partner"
originalSender = "0088:other"
[[rule]]
documentType = ["*:Order-2::*", "*:OrderChange-2::*"]
[[rule]]
name = "EDIFACT by access point"
senderAp = "POP*"
payloadKind = ["edifact", "x12", "text"]
[[rule]]
name = "all of POP"
senderAp = "POP*"
process = "*billing*"
`;

  it('is told for each rule that was tried, up to the one that applies', () => {
    expect(decideRule(parse(toml), FACTS).why).toMatchInlineSnapshot(`
      [
        "rule 1 "a partner" does not apply: originalSender iso6523-actorid-upis::0088:Acme is not like "0088:other"",
        "rule 2 does not apply: documentType busdox-docid-qns::urn:ubl:Invoice-2::Invoice##urn:cen::2.1 is not like "*:Order-2::*" or "*:OrderChange-2::*"",
        "rule 3 "EDIFACT by access point" does not apply: payloadKind xml is not like "edifact" or 2 others",
        "rule 4 "all of POP" applies: senderAp POP000001 is like "POP*"; process cenbii-procid-ubl::urn:billing:1 is like "*billing*"",
      ]
    `);
  });

  it('is told when none applies', () => {
    expect(decideRule(parse(toml), readFacts({ senderAp: 'X' })).why).toMatchInlineSnapshot(`
      [
        "rule 1 "a partner" does not apply: the message has no originalSender, which must be like "0088:other"",
        "rule 2 does not apply: the message has no documentType, which must be like "*:Order-2::*" or "*:OrderChange-2::*"",
        "rule 3 "EDIFACT by access point" does not apply: senderAp X is not like "POP*"",
        "rule 4 "all of POP" does not apply: senderAp X is not like "POP*"",
        "no rule applies, so [duplicates] of the configuration does",
      ]
    `);
  });

  it('is told of a rule without conditions', () => {
    expect(decideRule(parse('[[rule]]'), FACTS).why).toEqual(['rule 1 applies: it has no conditions']);
  });
});

describe('the rules that ship', () => {
  const policy = parsePolicy(DEFAULT_POLICY, 'shipped', { ...DEFAULTS, window: 1 });
  const UBL = 'busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:';

  it('have neither mistakes nor remarks, and a name each', () => {
    expect(policy.notes).toEqual([]);
    expect(policy.rules.map((r) => r.name).filter((name) => /^rule \d/.test(name))).toEqual([]);
  });

  it.each<readonly [days: number, facts: WrittenFacts]>([
    [90, { documentType: `${UBL}Order-2::Order##urn:fdc:peppol.eu:poacc:trns:order:3::2.1` }],
    [90, { documentType: `${UBL}OrderChange-2::OrderChange##urn:fdc:peppol.eu:poacc:trns:order_change:3::2.3` }],
    [180, { documentType: `${UBL}OrderResponse-2::OrderResponse##urn:fdc:peppol.eu:poacc:trns:order_response:3::2.1` }],
    [
      90,
      { documentType: `${UBL}DespatchAdvice-2::DespatchAdvice##urn:fdc:peppol.eu:poacc:trns:despatch_advice:3::2.1` },
    ],
    [
      365,
      {
        documentType: `${UBL}Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1`,
      },
    ],
    [
      365,
      {
        documentType: `${UBL}CreditNote-2::CreditNote##urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:selfbilling:3.0::2.1`,
      },
    ],
    [
      365,
      {
        documentType:
          'peppol-doctype-wildcard::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:peppol:pint:billing-1@jp-1::2.1',
      },
    ],
    [
      365,
      {
        documentType:
          'busdox-docid-qns::urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100::CrossIndustryInvoice##urn:cen.eu:en16931:2017::D16B',
      },
    ],
    [365, { documentType: `${UBL}RemittanceAdvice-2::RemittanceAdvice##x::2.1` }],
    [365, { documentType: 'busdox-docid-qns::urn:iso:std:iso:20022:tech:xsd:pain.001.001.03::Document##x::1' }],
    [180, { documentType: `${UBL}Catalogue-2::Catalogue##urn:fdc:peppol.eu:poacc:trns:catalogue:3::2.1` }],
    [90, { documentType: 'EDIFACT::ORDERS##D96A', payloadKind: 'edifact' }],
    [365, { documentType: 'EDIFACT::INVOIC##D96A', payloadKind: 'edifact' }],
    [180, { documentType: 'EDIFACT::ORDERS##D96A', payloadKind: 'xml' }],
    [90, { documentType: 'X12::850##004010', payloadKind: 'x12' }],
    [365, { documentType: 'X12::810##004010', payloadKind: 'x12' }],
    [180, {}],
  ])('give %i days for %o', (days, facts) => {
    expect(decideRule(policy, readFacts(facts)).values.window).toBe(days * DAY);
  });
});
