/** `plain` is neutral. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span className={`badge ${tone}`}>{text}</span>
}
