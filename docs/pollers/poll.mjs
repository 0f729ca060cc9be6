// Takes messages out of a Quittance inbox: node poll.mjs INBOX DONE [--once]
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const [inbox, done, once] = process.argv.slice(2);
const numberOf = (name) => Number(name.slice(name.lastIndexOf('_') + 1));

/** Your work. Throw, and the directory stays where it is and is tried again. */
function handle(directory, metadata) {
  const document = metadata.files.find((file) => file.role === 'document') ?? metadata.files[0];
  const content = readFileSync(join(directory, document.name));
  console.log(JSON.stringify({ sequence: metadata.sequence, messageId: metadata.messageId, bytes: content.length }));
}

function poll() {
  const names = readdirSync(inbox).filter((name) => !name.startsWith('.'));
  for (const name of names.sort((a, b) => numberOf(a) - numberOf(b))) {
    const directory = join(inbox, name);
    try {
      handle(directory, JSON.parse(readFileSync(join(directory, 'metadata.json'), 'utf8')));
      renameSync(directory, join(done, name));
    } catch (error) {
      console.error(`${name} stays in the inbox: ${error.message}`);
    }
  }
}

mkdirSync(done, { recursive: true });
poll();
if (once !== '--once') setInterval(poll, 1000);
