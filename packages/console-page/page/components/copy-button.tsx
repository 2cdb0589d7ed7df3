import { useState } from 'react'
import { announce } from '../frame/announcer.ts'
import { copyText } from './copy-text.ts'
import { Icon } from './icon.tsx'

export function CopyButton({ text, label, isSmall = false }: { text: string; label: string; isSmall?: boolean }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    setCopied(await copyText(text))
    announce('Copied.')
  }
  return (
    <button type="button" className={`button icon-only ${isSmall ? 'small quiet' : ''}`} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span className="visually-hidden">{isCopied ? `${label} (copied)` : label}</span>
    </button>
  )
}
