import { memo, type ComponentProps } from 'react'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CopyButton } from '../../components/copying.tsx'

// A model's answer is untrusted:
//   1. HTML in it is shown as text.
//   2. Only links with a safe scheme lead anywhere; react-markdown empties all others.
//   3. Nothing loads by itself: an image would tell its host that, when and from where the answer was read.

const plugins = [remarkGfm]

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  img: ({ src, alt }) => (
    <OutsideLink href={typeof src === 'string' ? src : undefined}>Image: {alt || 'untitled'}</OutsideLink>
  ),
  pre: ({ node, children }) => {
    const [code] = node?.children ?? []
    const [text] = code?.type === 'element' ? code.children : []
    return (
      <div className="copyable">
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- wide code scrolls by keyboard */}
        <pre tabIndex={0}>{children}</pre>
        <CopyButton text={text?.type === 'text' ? text.value.trimEnd() : ''} label="Copy code" />
      </div>
    )
  },
  table: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a wide table scrolls by keyboard
    <div className="table narrow-rows formatted-table" role="group" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
}

/** Markdown, without HTML, images and links that run scripts. */
export const FormattedText = memo(function FormattedText({ text }: { text: string }) {
  return (
    <div className="playground-text formatted">
      <Markdown remarkPlugins={plugins} components={components}>
        {text}
      </Markdown>
    </div>
  )
})

function OutsideLink({ href, children }: ComponentProps<'a'>) {
  return href ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  )
}
