import {
  Braces,
  Hash,
  Image,
  LogIn,
  LogOut,
  MessageSquareText,
  Split,
  Square,
  TextCursorInput,
  Volume2,
  type LucideIcon,
} from 'lucide-react'

const icons: Readonly<Record<string, LucideIcon>> = {
  input: LogIn,
  output: LogOut,
  template: TextCursorInput,
  expression: Braces,
  branch: Split,
  constant: Hash,
  'product.chat': MessageSquareText,
  'product.image': Image,
  'product.audio': Volume2,
}

/** Decorative: the kind is written next to it. */
export function KindIcon({ kind }: { kind: string }) {
  const Drawn = icons[kind] ?? Square
  return <Drawn className="icon" aria-hidden="true" focusable="false" />
}
