import { useState } from 'react'
import { useBaseUrl } from '../../api/session.ts'
import { chatCode } from '../code/chat-code.ts'
import type { ChatBody } from '../core/messages-of.ts'
import { CodePanel } from './code-panel.tsx'

/** Code samples for the next request, generated when opened. */
export function ChatCodePart({ bodyOf }: { bodyOf: () => ChatBody }) {
  const baseUrl = useBaseUrl()
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>View code</summary>
      {isOpen && <CodePanel of={chatCode(baseUrl, bodyOf())} />}
    </details>
  )
}
