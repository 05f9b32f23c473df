-- The one filter of the built-in renderer. It gives pandoc what Quarto documents expect:
-- conditional content, call-outs, tab sets, numbered sections, figures, tables and equations,
-- references to them (before citeproc sees them), pictures inside the page. It never makes a
-- remote address. Every pass below runs once over the tree, so none can feed itself.

local html = FORMAT:match("^html") ~= nil
local typst = FORMAT == "typst"
local latex = FORMAT == "latex"
local target = html and "html" or typst and "typst" or latex and "latex"
  or FORMAT:match("^docx") and "docx" or "markdown"

local floats = {
  fig = { name = "Figure" }, tbl = { name = "Table" },
  lst = { name = "Listing" }, eq = { name = "Equation" }, sec = { name = "Section" },
}
local counts = { fig = 0, tbl = 0, lst = 0, eq = 0 }
local known = {}          -- id -> { kind =, number = }
local number_sections = false
local list_of_problems = {}
local plain_text = target == "markdown"   -- no spans, links and styles there

local function kind_of(id)
  local kind = (id or ""):match("^(%a+)%-")
  return floats[kind] and kind or nil
end

local function raw(text) return pandoc.RawBlock(target, text) end
local function rawi(text) return pandoc.RawInline(target, text) end
local function html_escape(text)
  return (text:gsub("[&<>\"']", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
    ['"'] = "&quot;", ["'"] = "&#39;" }))
end
local function typst_string(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

-- 1. conditional content, and raw blocks of other formats -----------------------------------

local aliases = {
  html = { html = true, ["html:js"] = true }, typst = { typst = true },
  docx = { docx = true }, latex = { latex = true, pdf = true },
  markdown = { markdown = true },
}

local function visible(element)
  local show, hide = element.classes:includes("content-visible"), element.classes:includes("content-hidden")
  if not show and not hide then return true end
  local applies = true
  local when, unless = element.attributes["when-format"], element.attributes["unless-format"]
  if when then applies = aliases[target][when] == true end
  if unless then applies = applies and aliases[target][unless] ~= true end
  if show then return applies end
  return not applies
end

local function conditional(element)
  if element.classes:includes("js-fallback") then
    if html or typst then return {} end
    return element.content
  end
  if not (element.classes:includes("content-visible") or element.classes:includes("content-hidden")) then
    return nil
  end
  if visible(element) then return element.content end
  return {}
end

local function other_format(element)
  local format = element.format
  if html then return (not format:match("^html")) and {} or nil end
  if format ~= target and not (target == "latex" and format == "tex") then return {} end
end

-- 2. call-outs ------------------------------------------------------------------------------

local callouts = {
  ["callout-note"] = "Note", ["callout-tip"] = "Tip", ["callout-warning"] = "Warning",
  ["callout-important"] = "Important", ["callout-caution"] = "Caution",
}

local function callout(div)
  local class
  for _, name in ipairs(div.classes) do if callouts[name] then class = name end end
  if not class then return nil end
  local title = { pandoc.Str(callouts[class]) }
  local body = div.content
  if div.attributes.title then
    title = pandoc.utils.blocks_to_inlines(pandoc.read(div.attributes.title, "markdown").blocks)
  elseif body[1] and body[1].t == "Header" then
    title = body[1].content
    body:remove(1)
  end
  local kind = class:gsub("callout%-", "")
  local out = pandoc.Blocks({})
  if html then
    local tag = div.attributes.collapse == "true" and "details" or "div"
    local head = tag == "details" and "summary" or "div"
    out:insert(raw('<' .. tag .. ' class="callout ' .. class .. '">'))
    local line = pandoc.Inlines({ rawi('<' .. head .. ' class="callout-title">') })
    line:extend(title); line:insert(rawi('</' .. head .. '>'))
    out:insert(pandoc.Plain(line))
    out:extend(body)
    out:insert(raw('</' .. tag .. '>'))
  elseif typst then
    local line = pandoc.Inlines({ rawi('#js-callout("' .. kind .. '", [') })
    line:extend(title); line:insert(rawi('])['))
    out:insert(pandoc.Plain(line))
    out:extend(body)
    out:insert(raw(']'))
  else
    body:insert(1, pandoc.Para({ pandoc.Strong(title) }))
    out:insert(pandoc.BlockQuote(body))
  end
  return out
end

-- 3. tab sets: radio buttons in HTML (no script), headings elsewhere -----------------------------

local tabset_count = 0

local function tabset(div)
  if not div.classes:includes("panel-tabset") or not html then return nil end
  tabset_count = tabset_count + 1
  local tabs = {}
  for _, block in ipairs(div.content) do
    if block.t == "Header" then
      tabs[#tabs + 1] = { title = block.content, content = pandoc.Blocks({}) }
    elseif #tabs > 0 then
      tabs[#tabs].content:insert(block)
    end
  end
  local out = pandoc.Blocks({ raw('<div class="tabset">') })
  local name = "tabset-" .. tabset_count
  local line = pandoc.Inlines({})
  for i, tab in ipairs(tabs) do
    line:insert(rawi(string.format('<input type="radio" name="%s" id="%s-%d"%s><label for="%s-%d">',
      name, name, i, i == 1 and " checked" or "", name, i)))
    line:extend(tab.title)
    line:insert(rawi("</label>"))
  end
  out:insert(pandoc.Plain(line))
  for _, tab in ipairs(tabs) do
    out:insert(raw('<section class="tab-panel"><div class="tab-print">'))
    out:insert(pandoc.Plain({ pandoc.Strong(tab.title) }))
    out:insert(raw('</div>'))
    out:extend(tab.content)
    out:insert(raw('</section>'))
  end
  out:insert(raw('</div>'))
  return out
end

local function plain_tabset(div)
  if not div.classes:includes("panel-tabset") or html then return nil end
  for _, block in ipairs(div.content) do
    if block.t == "Header" then block.classes:insert("unnumbered") end
  end
  return div.content
end

-- 4. numbers: sections, figures, tables, equations --------------------------------------------

local section = { 0, 0, 0, 0, 0, 0 }
local appendix = false

local function header(element)
  if element.classes:includes("appendix") and not appendix then
    appendix = true
    section = { 0, 0, 0, 0, 0, 0 }
  end
  if not number_sections or element.classes:includes("unnumbered") then
    if kind_of(element.identifier) == "sec" then
      known[element.identifier] = { kind = "sec", text = pandoc.utils.stringify(element.content) }
    end
    return nil
  end
  local level = element.level
  section[level] = section[level] + 1
  for deeper = level + 1, 6 do section[deeper] = 0 end
  local parts = {}
  for i = 1, level do
    parts[i] = (appendix and i == 1) and string.char(64 + section[1]) or tostring(section[i])
  end
  local number = table.concat(parts, ".")
  if element.identifier ~= "" then
    known[element.identifier] = { kind = "sec", number = number, appendix = appendix }
  end
  local shown = (appendix and level == 1) and ("Appendix " .. number) or number
  element.content:insert(1, pandoc.Space())
  element.content:insert(1, plain_text and pandoc.Str(shown .. ".")
    or pandoc.Span({ pandoc.Str(shown) }, { class = "header-section-number" }))
  return element
end

local function float(id, kind, content, caption, alt)
  counts[kind] = counts[kind] + 1
  local number = tostring(counts[kind])
  if known[id] then list_of_problems[#list_of_problems + 1] = "the label " .. id .. " is used twice" end
  known[id] = { kind = kind, number = number }
  local label = pandoc.Str(floats[kind].name .. "\u{a0}" .. number .. ".")
  local line = pandoc.Inlines({ plain_text and pandoc.Strong(label)
    or typst and pandoc.Strong(label) or pandoc.Span({ label }, { class = "float-number" }) })
  if caption and #caption > 0 then
    line:insert(pandoc.Space())
    line:extend(caption)
  end
  if alt then
    content = content:walk({ Image = function(image) image.attributes["fig-alt"] = image.attributes["fig-alt"] or alt; return image end })
  end
  local out = pandoc.Blocks({})
  if html then
    local cap = pandoc.Inlines({ rawi("<figcaption>") })
    cap:extend(line); cap:insert(rawi("</figcaption>"))
    out:insert(raw('<figure id="' .. html_escape(id) .. '" class="float float-' .. kind .. '">'))
    if kind == "tbl" then out:insert(pandoc.Plain(cap)) end
    out:extend(content)
    if kind ~= "tbl" then out:insert(pandoc.Plain(cap)) end
    out:insert(raw("</figure>"))
  elseif typst then
    -- the figures that answer, and small ones, stay where they are; others may float
    local stays = id == "fig-answer" or id == "fig-shifts" or id:match("^fig%-ranks%-")
    local how = stays and "here" or kind
    local cap = pandoc.Inlines({ rawi('#js-float("' .. how .. '", [') })
    cap:extend(line); cap:insert(rawi("])["))
    out:insert(pandoc.Plain(cap))
    out:extend(content)
    out:insert(raw("] <" .. id .. ">"))
  else
    local style = kind == "tbl" and "Table Caption" or "Image Caption"
    local cap = pandoc.Div({ pandoc.Para({ pandoc.Span(line, { id = id }) }) }, { ["custom-style"] = style })
    if plain_text then cap = pandoc.Para(line) end
    if kind == "tbl" then out:insert(cap) end
    out:extend(content)
    if kind ~= "tbl" then out:insert(cap) end
  end
  return out
end

local function float_div(div)
  local kind = kind_of(div.identifier)
  if not kind or kind == "sec" or kind == "eq" then return nil end
  local content, caption = div.content, nil
  local attribute = div.attributes[kind .. "-cap"]
  if attribute then
    caption = pandoc.utils.blocks_to_inlines(pandoc.read(attribute, "markdown").blocks)
  elseif #content > 1 and content[#content].t == "Para" then
    caption = content[#content].content
    content:remove(#content)
  end
  -- a single implicit figure inside: its caption is the float's, if the float has none
  content = content:walk({ Figure = function(figure)
    if not caption then caption = pandoc.utils.blocks_to_inlines(figure.caption.long) end
    return figure.content
  end })
  return float(div.identifier, kind, content, caption, div.attributes["fig-alt"]), false
end

local function figure_block(figure)
  if kind_of(figure.identifier) ~= "fig" then return nil end
  return float(figure.identifier, "fig", figure.content,
    pandoc.utils.blocks_to_inlines(figure.caption.long), nil), false
end

local function table_block(element)
  element.classes:insert("typst:no-figure")
  local caption = pandoc.utils.blocks_to_inlines(element.caption.long)
  local id = kind_of(element.identifier) == "tbl" and element.identifier or nil
  local last = caption[#caption]
  if not id and last and last.t == "Str" then
    id = last.text:match("^{#(tbl%-[%w%-_]+)}$")
    if id then caption:remove(#caption) end
    if id and caption[#caption] and caption[#caption].t == "Space" then caption:remove(#caption) end
  end
  if not id then return element end
  element.caption = { long = {} }
  element.identifier = ""
  return float(id, "tbl", pandoc.Blocks({ element }), caption, nil), false
end

local function equation(para)
  local inlines = para.content
  for i = 1, #inlines - 1 do
    if inlines[i].t == "Math" and inlines[i].mathtype == "DisplayMath" then
      local after = inlines[i + 1].t == "Space" and i + 2 or i + 1
      local id = inlines[after] and inlines[after].t == "Str" and inlines[after].text:match("^{#(eq%-[%w%-_]+)}$")
      if id then
        counts.eq = counts.eq + 1
        local number = tostring(counts.eq)
        known[id] = { kind = "eq", number = number }
        local math = pandoc.Plain({ inlines[i] })
        if html then
          return { raw('<div class="equation" id="' .. id .. '">'), math,
            raw('<span class="equation-number">(' .. number .. ')</span></div>') }, false
        elseif typst then
          return { raw("#js-equation[(" .. number .. ")]["), math, raw("] <" .. id .. ">") }, false
        end
        if plain_text then return pandoc.Para({ inlines[i] }), false end
        return pandoc.Para({ pandoc.Span({ inlines[i] }, { id = id }), pandoc.Space(), pandoc.Str("(" .. number .. ")") }), false
      end
    end
  end
end

-- the sentence before an equation stays on its page
local function kept_with_equation(blocks)
  local out = pandoc.Blocks({})
  for i, block in ipairs(blocks) do
    local following = blocks[i + 1]
    if block.t == "Para" and following and following.t == "RawBlock" and following.text:match("^#js%-equation") then
      out:extend({ raw("#block(sticky: true, spacing: 0.95em)["), block, raw("]") })
    else
      out:insert(block)
    end
  end
  return out
end

-- 5. references ---------------------------------------------------------------------------------

local function reference(cite)
  local first = cite.citations[1]
  if not kind_of(first.id) then return nil end
  local out = pandoc.Inlines({})
  for i, citation in ipairs(cite.citations) do
    local entry = known[citation.id]
    if not entry then
      list_of_problems[#list_of_problems + 1] = "@" .. citation.id .. " refers to nothing in the document"
    else
      local text = entry.text or entry.number
      if entry.text == nil and citation.mode ~= "SuppressAuthor" and #citation.prefix == 0 then
        text = (entry.appendix and "Appendix" or floats[entry.kind].name) .. "\u{a0}" .. text
      end
      if i > 1 then out:extend({ pandoc.Str(","), pandoc.Space() }) end
      if #citation.prefix > 0 then
        out:extend(citation.prefix); out:insert(pandoc.Str("\u{a0}"))
      end
      if plain_text then
        out:insert(pandoc.Str(text))
      else
        out:insert(pandoc.Link({ pandoc.Str(text) }, "#" .. citation.id, "", { class = "cross-reference" }))
      end
    end
  end
  return out
end

-- 6. pictures -----------------------------------------------------------------------------------

local types = { svg = "image/svg+xml", png = "image/png", jpg = "image/jpeg", jpeg = "image/jpeg", gif = "image/gif", webp = "image/webp" }

local function read_binary(path)
  local file = io.open(path, "rb")
  if not file then error("the picture " .. path .. " cannot be read") end
  local data = file:read("a")
  file:close()
  return data
end

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local letters = {}
for i = 1, 64 do letters[i - 1] = alphabet:sub(i, i) end

local function base64(data)
  local out = {}
  for i = 1, #data - 2, 3 do
    local a, b, c = data:byte(i, i + 2)
    local n = a * 65536 + b * 256 + c
    out[#out + 1] = letters[n >> 18] .. letters[(n >> 12) & 63] .. letters[(n >> 6) & 63] .. letters[n & 63]
  end
  local rest = #data % 3
  if rest == 1 then
    local n = data:byte(-1) << 16
    out[#out + 1] = letters[n >> 18] .. letters[(n >> 12) & 63] .. "=="
  elseif rest == 2 then
    local a, b = data:byte(-2, -1)
    local n = a * 65536 + b * 256
    out[#out + 1] = letters[n >> 18] .. letters[(n >> 12) & 63] .. letters[(n >> 6) & 63] .. "="
  end
  return table.concat(out)
end

local function image(element)
  local src = element.src
  if src:match("^%a[%w+.-]*:") or src:match("^//") then
    error("the picture " .. src .. " is not a file of the document: remote pictures are not loaded")
  end
  local suffix = (src:match("%.(%w+)$") or ""):lower()
  if not types[suffix] then error("the picture " .. src .. " has an unknown type") end
  local alt = element.attributes["fig-alt"] or pandoc.utils.stringify(element.caption)
  element.attributes["fig-alt"] = nil
  if html then
    local width = element.attributes.width and (' style="width:' .. html_escape(element.attributes.width) .. '"') or ""
    local narrow = element.attributes.narrow
    local before, after = "", ""
    if narrow then
      before = '<picture><source media="(max-width: 40rem)" srcset="data:image/svg+xml;base64,'
        .. base64(read_binary(narrow)) .. '">'
      after = "</picture>"
    end
    return rawi(before .. '<img class="picture" src="data:' .. types[suffix] .. ';base64,' .. base64(read_binary(src))
      .. '" alt="' .. html_escape(alt) .. '"' .. width .. ">" .. after)
  elseif typst then
    local width = element.attributes.width or "auto"
    if width ~= "auto" and not width:match("^[%d.]+%a*%%?$") then width = "auto" end
    return rawi("#js-picture(" .. typst_string(src) .. ", alt: " .. typst_string(alt) .. ", width: " .. width .. ")")
  end
  element.attributes.narrow = nil
  if suffix == "svg" then
    local png = src:gsub("%.svg$", ".png")
    local file = io.open(png, "rb")
    if file then file:close(); element.src = png end
  end
  element.caption = { pandoc.Str(alt) }
  element.attributes.width = element.attributes.width or "100%"
  return element
end

-- Word and LaTeX: the heading of a group of rows goes over the whole width of its table, and the
-- points of a list are paragraphs (Word's style of tight text is the small one of tables) -------------

local function strong_only(cell)
  local block = cell.contents[1]
  if #cell.contents ~= 1 or (block.t ~= "Plain" and block.t ~= "Para") then return false end
  return #block.content == 1 and block.content[1].t == "Strong"
end

local function group_rows(element)
  for _, body in ipairs(element.bodies) do
    for _, row in ipairs(body.body) do
      local alone = #row.cells > 1 and strong_only(row.cells[1])
      for i = 2, #row.cells do alone = alone and #row.cells[i].contents == 0 end
      if alone then
        local cell = row.cells[1]
        cell.col_span = #row.cells
        row.cells = { cell }
      end
    end
  end
  return element
end

local function loose_list(element)
  for _, item in ipairs(element.content) do
    for i, block in ipairs(item) do
      if block.t == "Plain" then item[i] = pandoc.Para(block.content) end
    end
  end
  return element
end

-- the passes, in order -----------------------------------------------------------------------------

function Pandoc(doc)
  number_sections = doc.meta["number-sections"] == true
  local blocks = doc.blocks
  blocks = blocks:walk({ Div = conditional, Span = function(s) local r = conditional(s); return r end })
  blocks = blocks:walk({ RawBlock = other_format, RawInline = other_format })
  -- which record a number is, is told to readers of HTML
  if not html then
    blocks = blocks:walk({ Span = function(s) if s.attributes["data-record"] then return s.content end end })
  end
  blocks = blocks:walk({ Div = plain_tabset })
  blocks = blocks:walk({ Div = callout })
  blocks = blocks:walk({ Div = tabset })
  -- once only: the output of these holds no element which they would match again
  blocks = blocks:walk({
    traverse = "topdown",
    Header = header, Div = float_div, Figure = figure_block, Table = table_block, Para = equation,
  })
  blocks = blocks:walk({ Image = image })
  if latex or target == "docx" then blocks = blocks:walk({ Table = group_rows }) end
  if typst then
    blocks = kept_with_equation(blocks):walk({ Div = function(div) div.content = kept_with_equation(div.content); return div end })
  end
  if target == "docx" then blocks = blocks:walk({ BulletList = loose_list }) end
  blocks = blocks:walk({ Cite = reference })
  if #list_of_problems > 0 then error(table.concat(list_of_problems, "; ")) end
  doc.blocks = blocks
  return doc
end
