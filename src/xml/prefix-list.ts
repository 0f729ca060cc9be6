/**
 * Splits InclusiveNamespaces/@PrefixList, an xs:NMTOKENS: any run of XML white space separates, the ends do not matter, and repeated
 * names count once. `#default` stays as it is. An absent list gives an empty one.
 */
export function splitPrefixList(value: string | null | undefined): readonly string[] {
  if (value === null || value === undefined) return [];
  return [...new Set(value.split(/[ \t\r\n]+/))].filter((prefix) => prefix !== '');
}
