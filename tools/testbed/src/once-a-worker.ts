/**
 * Shares one thing among all test files of a vitest worker, created on first use. It is behind a fixture of scope
 * `worker`: vitest creates such a fixture again for each `test` that extends another one, and so for each file, but
 * files of a worker that are not isolated share modules, and with them this.
 * @returns `close` is safe to repeat: each of those fixtures calls it at its end, and vitest ends them with the worker.
 */
export function onceAWorker<T>(make: () => Promise<T>, end: (made: T) => Promise<unknown>) {
  let opened: Promise<T> | undefined
  let closed: Promise<unknown> | undefined
  return {
    open: () => (opened ??= make()),
    close: async () => void (await (closed ??= opened?.then(end))),
  }
}
