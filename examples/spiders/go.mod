module example.com/spiders

go 1.19

require example.com/unseen v0.0.0

replace example.com/unseen => ../go
