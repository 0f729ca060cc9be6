import { expect, it } from 'vitest';
import { readInteropOptions } from './options.ts';

const KNOWN = ['phase4', 'as4'];

it('a peer that does not exist is named, with those that do', () => {
  expect(() => readInteropOptions(['--peer', 'phase5'], KNOWN)).toThrow(
    'There is no peer phase5; there are phase4, as4.',
  );
});

it('peers may be given one by one or with commas', () => {
  const options = readInteropOptions(['--peer', 'phase4', '--peer', 'as4'], KNOWN);
  expect(options).toMatchObject({ peers: ['phase4', 'as4'] });
  expect(readInteropOptions(['--peer', 'phase4,as4'], KNOWN)).toEqual(options);
});

it('an option that does not exist is refused', () => {
  expect(() => readInteropOptions(['--pear', 'as4'], KNOWN)).toThrow('--pear');
});
