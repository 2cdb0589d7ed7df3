import { lazy, Suspense } from 'react'

const Formatted = lazy(async () => ({ default: (await import('./formatted-text.tsx')).FormattedText }))

/** Text of a response, formatted as Markdown. Plain until the formatter is loaded. */
export function AnswerText({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="playground-text">{text}</p>}>
      <Formatted text={text} />
    </Suspense>
  )
}
