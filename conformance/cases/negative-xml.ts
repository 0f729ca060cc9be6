import type { Case } from '../case.ts';
import { refuse } from './rows.ts';

/** Known or not, by the product's own reading. */
const ANY_ID = { echo: 'any' } as const;

function xml(
  id: string,
  source: string,
  asserts: string,
  edit: (envelope: string) => string,
  basis: Case['basis'] = 'norm',
): Case {
  const o = { ...ANY_ID, basis };
  return refuse(`NEG-XML-${id}`, source, asserts, '0009', { document: null, editEnvelope: edit }, o);
}

/** What cannot be parsed, or two parsers would read as two things. */
export const XML_CASES: readonly Case[] = [
  xml('01', 'XML 1.0 §2.1', 'An envelope that is not well-formed is refused.', (e) => e.replace('</eb:PartyInfo>', '')),
  xml('02', 'AS4 §2.1', 'Text instead of an envelope is refused.', () => 'hello'),
  xml('03', 'SOAP 1.2 §5', 'A DOCTYPE is refused.', (e) => `<!DOCTYPE S12:Envelope>${e}`),
  xml(
    '04',
    'SOAP 1.2 §5',
    'An external entity is refused and never fetched.',
    (e) =>
      `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${e.replace('</eb:MessageId>', '&x;</eb:MessageId>')}`,
  ),
  xml('05', 'SOAP 1.2 §5', 'Entities that unfold a millionfold are refused.', (e) => {
    const lines = ['<!ENTITY a0 "aaaaaaaaaa">'];
    for (let n = 1; n < 9; n++) lines.push(`<!ENTITY a${n} "${`&a${n - 1};`.repeat(10)}">`);
    return `<!DOCTYPE a [${lines.join('')}]>${e.replace('</eb:MessageId>', '&a8;</eb:MessageId>')}`;
  }),
  xml('06', 'SOAP 1.2 §5', 'A processing instruction is refused.', (e) =>
    e.replace('<eb:MessageInfo>', '<eb:MessageInfo><?a b?>'),
  ),
  xml('07', 'XML Names §4', 'A prefix that nobody declares is refused.', (e) =>
    e.replace('<eb:MessageInfo>', '<eb:MessageInfo><x:y></x:y>'),
  ),
  xml('08', 'XMLDSig §4.4.3.3', 'Two elements with one Id are refused.', (e) =>
    e.replace('</wsse:Security>', `<x xmlns="" Id="${/<S12:Body[^>]*Id="([^"]*)"/.exec(e)?.[1]}"></x></wsse:Security>`),
  ),
  xml(
    '09',
    'XMLDSig §4.4.3.3',
    'The spellings Id, ID, id count as one.',
    (e) => e.replace('</wsse:Security>', '<x xmlns="" id="X"></x><y xmlns="" ID="X"></y></wsse:Security>'),
    'reading',
  ),
  xml(
    '10',
    'architecture §2.2',
    'More than 100 levels are refused.',
    (e) => e.replace('</wsse:Security>', `${'<x xmlns="">'.repeat(101)}${'</x>'.repeat(101)}</wsse:Security>`),
    'reading',
  ),
  refuse(
    'NEG-XML-11',
    'eD §1.4.2.2',
    'An envelope that is not UTF-8 is refused.',
    '0009',
    {
      document: null,
      encoding: 'latin1',
      header: { conversationId: 'Übergröße' },
    },
    ANY_ID,
  ),
];
