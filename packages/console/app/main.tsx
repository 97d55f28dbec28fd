/** The entry point of the console. */
import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme, readTheme } from './theme.ts'
import './style/base.css'
import './style/parts.css'
import './style/pages.css'

applyTheme(readTheme())
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
