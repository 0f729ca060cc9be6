import type { Result } from '../runner/run.ts';
import type { Exchange } from '../runner/trial.ts';
import { requestHead } from '../wire/request.ts';
import { escapeMarkup } from './escape.ts';
import { count } from './table.ts';

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; color: #1c2530 }
h2 { margin-top: 2rem } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #dde3ea }
td:last-child { text-align: right } pre { background: #f4f6f8; padding: .8rem; overflow: auto; max-height: 30rem; font-size: 12px }
.passed { color: #1a7f4b } .failed { color: #b3261e; font-weight: 600 } .skipped, .not-applicable { color: #78828d }
@media (prefers-color-scheme: dark) { body { background: #14191f; color: #dde3ea } pre { background: #1d242c } td, th { border-color: #2c3640 } }`;

/** Most of an envelope; payloads behind it are noise. */
const SHOWN = 24_000;

export interface Chapter {
  readonly title: string;
  readonly results: readonly Result[];
}

/** One file that needs no other: a table by chapter, and each failure with what was sent and what came back. */
export function html(name: string, chapters: readonly Chapter[], date: Date): string {
  const results = chapters.flatMap((chapter) => chapter.results);
  const { passed, failed, skipped, notApplicable } = count(results);
  const title = `AS4 conformance: ${escapeMarkup(name)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p>${date.toISOString()}: <span class="passed">${passed} passed</span>, <span class="failed">${failed} failed</span>, ${skipped} skipped, ${notApplicable} not applicable.</p>
${chapters.map(chapterTable).join('\n')}
${results.some(({ verdict }) => verdict === 'failed') ? '<h2>Failures</h2>' : ''}
${results
  .filter(({ verdict }) => verdict === 'failed')
  .map(failure)
  .join('\n')}
</body></html>
`;
}

function chapterTable({ title, results }: Chapter): string {
  if (results.length === 0) return '';
  const rows = results.map(({ case: { id, source, asserts, basis }, verdict, detail, ms }) => {
    const name = verdict === 'failed' ? `<a href="#${escapeMarkup(id)}">${escapeMarkup(id)}</a>` : escapeMarkup(id);
    const why = detail === null ? '' : `<br><small>${escapeMarkup(detail)}</small>`;
    const time = verdict === 'passed' || verdict === 'failed' ? `${ms.toFixed(0)} ms` : '';
    return `<tr><td>${name}</td><td>${escapeMarkup(source)}</td><td>${escapeMarkup(asserts)}${why}</td><td>${basis}</td><td class="${verdict}">${verdict}</td><td>${time}</td></tr>`;
  });
  return `<h2>${escapeMarkup(title)}</h2>
<table><tr><th>Case</th><th>Source</th><th>What was asserted</th><th>Basis</th><th>Result</th><th>Time</th></tr>
${rows.join('\n')}</table>`;
}

function failure({ case: { id, asserts }, detail, exchanges }: Result): string {
  return `<h3 id="${escapeMarkup(id)}">${escapeMarkup(id)}</h3><p>${escapeMarkup(asserts)}</p><p class="failed">${escapeMarkup(detail ?? '')}</p>
${exchanges.map(exchangeText).join('\n')}`;
}

function exchangeText({ url, message, wire, answer }: Exchange, index: number): string {
  const sent = wire.cutUpload === undefined ? message.body : message.body.subarray(0, wire.cutUpload);
  const request = `${requestHead(url, message, wire).replaceAll('\r\n', '\n')}${shown(sent)}`;
  const reply =
    answer === null
      ? 'no answer, or one that was lost on purpose'
      : `HTTP ${answer.status}\n${lines(answer.headers)}\n\n${shown(answer.body)}`;
  return `<details><summary>Exchange ${index + 1}: ${escapeMarkup(message.messageId)}</summary>
<h4>Request</h4><pre>${escapeMarkup(request)}</pre><h4>Answer</h4><pre>${escapeMarkup(reply)}</pre></details>`;
}

function lines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function shown(octets: Buffer): string {
  const text = octets.toString('utf8', 0, SHOWN);
  return octets.length > SHOWN ? `${text}\n… ${octets.length - SHOWN} octets more` : text;
}
