/**
 * Where the compiled script of a worker thread is. Node runs no TypeScript in workers, so code that runs from `src/` (tests,
 * benchmarks) starts the worker that `npm run build` left in `dist/`.
 * @param moduleUrl `import.meta.url` of the caller
 * @param name file name of the worker without extension, in the caller's folder
 */
export function workerFile(moduleUrl: string, name: string): URL {
  if (!moduleUrl.endsWith('.ts')) return new URL(`./${name}.js`, moduleUrl);
  const at = moduleUrl.lastIndexOf('/src/');
  return new URL(`./${name}.js`, `${moduleUrl.slice(0, at)}/dist/${moduleUrl.slice(at + 5)}`);
}
