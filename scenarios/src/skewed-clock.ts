// Preloaded into a process (`--import …/skewed-clock.ts?ms=3600000`) to shift its clock by this many milliseconds. Monotonic time is
// unchanged.

const skewMs = Number(new URL(import.meta.url).searchParams.get('ms'))
const RightDate = Date

globalThis.Date = class extends RightDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [RightDate.now() + skewMs] : given) as [number]))
  }
  static override now(): number {
    return RightDate.now() + skewMs
  }
} as DateConstructor
