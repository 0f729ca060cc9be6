import { z } from 'zod';
import { about, type FieldAbout } from './fields.ts';
import { configSchema } from './schema.ts';

/** One key of the configuration, by its place in the file. */
export interface ConfigKey {
  /** Null for a key above all sections. */
  readonly section: string | null;
  readonly name: string;
  /** `http.port` */
  readonly dotted: string;
  readonly about: FieldAbout;
}

/** All keys in the order of the schema. */
export function configKeys(): ConfigKey[] {
  return Object.entries(configSchema.shape).flatMap(([name, schema]): ConfigKey[] => {
    const own = about.get(schema as z.ZodType);
    if (own) return [{ section: null, name, dotted: name, about: own }];
    const inner = schema instanceof z.ZodPrefault ? schema.unwrap() : null;
    if (!(inner instanceof z.ZodObject)) throw new TypeError(`the schema of ${name} is neither a key nor a section`);
    return Object.entries(inner.shape as Record<string, z.ZodType>).map(([key, s]) => {
      const found = about.get(s);
      if (!found) throw new TypeError(`nothing is said about ${name}.${key}`);
      return { section: name, name: key, dotted: `${name}.${key}`, about: found };
    });
  });
}
