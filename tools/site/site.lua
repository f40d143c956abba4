-- SPDX-License-Identifier: MIT
--
-- Links between pages: FILE.md becomes FILE.html, a manual page FILE.1 becomes FILE.1.html, a README.md its folder's
-- index. Tables scroll on their own, and a page is called what its first heading says.

local function page(target)
    if target:match("^%a+:") or target:match("^#") then
        return target
    end
    local path, anchor = target:match("^([^#]*)(.*)$")
    path = path:gsub("README%.md$", "index.html"):gsub("%.md$", ".html"):gsub("%.(1)$", ".%1.html")
    return path .. anchor
end

function Link(link)
    link.target = page(link.target)
    return link
end

function Table(content)
    return pandoc.Div({content}, pandoc.Attr("", {"table"}, {}))
end
